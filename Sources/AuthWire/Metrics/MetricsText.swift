/// Figures in the text formats of OpenMetrics and Prometheus, one family after the other.
package struct MetricsText: Sendable {
    package enum Format: String, CaseIterable, Sendable {
        /// OpenMetrics 1.0.
        case openmetrics
        /// Prometheus's text format 0.0.4, which node_exporter's textfile collector reads.
        case prometheus
    }

    package enum Kind: String, Sendable {
        case counter, gauge, histogram
    }

    package let format: Format
    private var lines: [String] = []

    package init(_ format: Format) { self.format = format }

    package var text: String {
        (lines + (format == .openmetrics ? ["# EOF"] : [])).joined(separator: "\n")
    }

    /// Begins a family of samples. A counter is named without `_total`.
    package mutating func family(_ name: String, _ kind: Kind, _ help: String) {
        // OpenMetrics names the family, Prometheus the sample.
        let name = kind == .counter && format == .prometheus ? name + "_total" : name
        lines += ["# HELP \(name) \(help)", "# TYPE \(name) \(kind.rawValue)"]
    }

    package mutating func sample(_ name: String, _ value: String, _ labels: [(name: String, value: String)] = []) {
        let labels = labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
        lines.append(labels.isEmpty ? "\(name) \(value)" : "\(name){\(labels)} \(value)")
    }

    /// A family with one sample.
    package mutating func single(_ name: String, _ kind: Kind, _ help: String, _ value: String) {
        family(name, kind, help)
        sample(kind == .counter ? name + "_total" : name, value)
    }

    /// OpenMetrics 1.0, "escaped-string". Characters that a terminal acts on, and line feeds, are escaped before.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in VisibleText.line(text).unicodeScalars {
            if scalar == "\\" || scalar == "\"" { escaped.unicodeScalars.append("\\") }
            escaped.unicodeScalars.append(scalar)
        }
        return escaped
    }
}

import AuthConnection
import AuthWire
import Glibc

enum ProviderCommands {
    static func show(_ name: String, _ options: Options) throws(Failure) -> ExitStatus {
        let (detail, json) = try options.connect().call(
            ProviderShow(ProviderParams(provider: name)))
        if options.json { return try Output.jsonResult(json) }
        let screen = Screen.current
        var lines = [screen.paint(Visible.line("\(detail.name): \(detail.title)"), .bold)]
        func add(_ label: String, _ text: String) {
            lines.append(hanging("  " + Visible.line(label), Visible.line(text), label: 16, screen))
        }
        add("source", detail.source)
        add("renewal", detail.renewal)
        for environment in detail.environments {
            add(environment.name, environment.url + (environment.isDefault ? " (default)" : ""))
        }
        for host in detail.hosts ?? [] {
            add("host " + host.name, host.url + (host.environment.map { " (\($0))" } ?? ""))
        }
        for method in detail.methods {
            let fields = method.fields.map { $0.name + ($0.optional ? "?" : "") + ($0.secret ? " (secret)" : "") }
            let later = (method.later ?? []).map { $0.name + ($0.secret ? " (secret)" : "") }
            let notes = [
                method.kind == SignInMethodInfo.key ? "a key: nothing renews it" : nil,
                later.isEmpty ? nil : "later perhaps " + later.joined(separator: ", "),
            ]
            add(
                "by " + method.name,
                ([fields.joined(separator: ", ")] + notes.compactMap(\.self)).joined(separator: "; "))
        }
        for method in detail.password {
            let fields = method.fields.map { $0.name + ($0.secret ? " (secret)" : "") }
            add("password " + StatusCard.spaced(method.name), fields.joined(separator: ", "))
        }
        if !detail.endpoints.isEmpty { add("endpoints", detail.endpoints.map(\.name).joined(separator: ", ")) }
        try Output.result(lines.joined(separator: "\n"))
        return .done
    }

    /// One row of a table. In a file or pipe it is one line, so that paths stay whole.
    static func hanging(_ label: String, _ text: String, label columns: Int, _ screen: Screen) -> String {
        Layout.wrapped(text, on: screen, indent: columns).enumerated().map { index, line in
            // A label that is longer than its column still needs a space.
            Layout.padded(index == 0 ? label + (Layout.width(label) < columns ? "" : " ") : "", to: columns) + line
        }.joined(separator: "\n")
    }
}

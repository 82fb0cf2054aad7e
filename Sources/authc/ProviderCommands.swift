import AuthClient
import AuthWire
import Glibc

/// `provider list`, `provider show`, `provider check` and `provider forget`.
enum ProviderCommands {
    /// The text is sent in one line of the protocol. Escaping may double it.
    private static let longestProfile = Limits.lineBytes / 2 - 4096

    static func list(_ options: Options) throws(Failure) -> ExitStatus {
        let (list, json) = try options.connect().call(ProviderListGet())
        if options.json { return try Output.jsonResult(json) }
        let screen = Screen.current
        let names = list.providers.map { Layout.width(Visible.line($0.name)) }.max() ?? 0
        let lines = list.providers.map { provider in
            let about =
                "\(provider.title); \(provider.methods.joined(separator: ", ")); "
                + "\(provider.environments.joined(separator: ", ")); \(provider.source)"
            return hanging(Visible.line(provider.name), Visible.line(about), label: names + 2, screen)
        }
        if !lines.isEmpty { try Output.result(lines.joined(separator: "\n")) }
        return .done
    }

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
        for method in detail.methods {
            let fields = method.fields.map { $0.name + ($0.optional ? "?" : "") + ($0.secret ? " (secret)" : "") }
            add("by " + method.name, fields.joined(separator: ", "))
        }
        for method in detail.password {
            let fields = method.fields.map { $0.name + ($0.secret ? " (secret)" : "") }
            add("password " + StatusCard.spaced(method.name), fields.joined(separator: ", "))
        }
        if !detail.endpoints.isEmpty { add("endpoints", detail.endpoints.map(\.name).joined(separator: ", ")) }
        try Output.result(lines.joined(separator: "\n"))
        return .done
    }

    /// Sends the file's text to the agent, which reads profiles.
    static func check(_ path: String, _ options: Options) throws(Failure) -> ExitStatus {
        let text = try FileText.read(path, atMost: longestProfile)
        let params = ProviderCheckRun(text: text, file: path)
        let (check, json) = try options.connect().call(params)
        if options.json {
            try Output.json(json)
        } else if check.problems.isEmpty {
            Output.note("\(Visible.line(path)): no problems found")
        } else {
            try Output.result(check.problems.map { Visible.line($0.description) }.joined(separator: "\n"))
        }
        return check.problems.isEmpty ? .done : .badSettings
    }

    static func forget(_ name: String, _ options: Options) throws(Failure) -> ExitStatus {
        let (result, json) = try options.connect().call(
            ProviderForget(ProviderParams(provider: name)))
        if options.json { return try Output.jsonResult(json) }
        if result.isForgotten {
            let deleted = result.isDeleted ? ", and the provider deleted it too" : ""
            Output.note(Visible.line("The registration at \(name) was deleted here\(deleted)."))
        }
        if let message = result.message { Output.note(Visible.line(message)) }
        return .done
    }

    /// One row of a table. In a file or pipe it is one line, so that paths stay whole.
    static func hanging(_ label: String, _ text: String, label columns: Int, _ screen: Screen) -> String {
        let lines = screen.isTerminal ? Layout.wrapped(text, on: screen, indent: columns) : [text]
        return lines.enumerated().map { index, line in
            // A label that is longer than its column still needs a space.
            Layout.padded(index == 0 ? label + (Layout.width(label) < columns ? "" : " ") : "", to: columns) + line
        }.joined(separator: "\n")
    }
}

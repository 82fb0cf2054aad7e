import AuthWire

/// `provider show PROVIDER --endpoints`.
enum EndpointList {
    static func show(_ provider: String, _ options: Options) throws(Failure) -> ExitStatus {
        let params = ProviderParams(provider: provider)
        let detail = try options.connect().call(ProviderShow(params)).value
        if options.json { return try Output.jsonResult(.array(detail.endpoints.map(\.json))) }
        let screen = Screen.current
        let width = (detail.endpoints.map { $0.name.count }.max() ?? 0) + 2
        var lines: [String] = []
        for endpoint in detail.endpoints {
            var text = "\(endpoint.method) \(endpoint.path)"
            if let about = endpoint.about { text += " \(about)" }
            lines.append(
                ProviderCommands.hanging(Visible.line(endpoint.name), Visible.line(text), label: width, screen))
            for argument in endpoint.args {
                lines.append(
                    ProviderCommands.hanging("", Visible.line(description(of: argument)), label: width + 2, screen))
            }
        }
        if lines.isEmpty {
            Output.note(
                Visible.line(
                    "The profile of \(provider) has no endpoints. `authc request METHOD PATH` sends any request."))
        } else {
            try Output.result(lines.joined(separator: "\n"))
        }
        return .done
    }

    private static func description(of argument: ArgumentInfo) -> String {
        let kind = argument.secret ? "secret" : argument.type.rawValue
        let text = "\(argument.name)\(argument.optional ? "?" : "") \(kind)"
        return argument.about.map { "\(text): \($0)" } ?? text
    }
}

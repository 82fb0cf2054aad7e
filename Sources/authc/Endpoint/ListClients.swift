import AuthFiles
import AuthWire
import CommandArguments

struct ListClients: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show the programs that were added, and what they may have.")

    @OptionGroup var common: FileOptions

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        let folder = try HTTPCommand.folder()
        let names = try HTTPCommand.files { () throws(SystemFailure) in try folder.names() }
        var rows: [ClientRow] = []
        for name in names {
            // A damaged entry does not hide the others.
            do throws(Failure) {
                rows.append(ClientRow(name: name, client: try HTTPCommand.client(name, in: folder), folder: folder))
            } catch {
                Output.note("\(name) is left out: \(error.message). `authc http remove \(name)` removes it.")
            }
        }
        if options.json { return try Output.jsonResult(["programs": .array(rows.map(\.json))]) }
        guard !rows.isEmpty else {
            Output.note("There are no programs. `authc http add --help` shows how to add one.")
            return .done
        }
        let width = rows.map { Layout.width($0.name.text) }.max() ?? 0
        try Output.result(
            rows.map { Layout.padded($0.name.text, to: width) + "  " + Visible.line($0.text) }.joined(separator: "\n"))
        return .done
    }
}

/// A program as `authc http list` shows it, without its key.
struct ClientRow {
    let name: ClientName
    let client: EndpointClient
    let folder: EndpointFolder

    var text: String {
        var parts = [client.view.rawValue]
        if !client.sessions.isEmpty { parts.append(client.sessions.map(\.text).joined(separator: ", ")) }
        if let scopes = client.scopes { parts.append("scopes " + scopes.joined(separator: " ")) }
        if let audience = client.audience { parts.append("audience " + audience) }
        if let role = client.role { parts.append(role) }
        if let sts = client.sts { parts.append("at " + sts) }
        if let port = client.port { parts.append("port \(port)") }
        return parts.joined(separator: "; ")
    }

    var json: JSON {
        var object: JSONObject = ["name": .string(name.text)]
        for (key, value) in client.json.objectValue ?? JSONObject() { object[key] = value }
        object["key_file"] = .string(folder.keyFile(of: name))
        return .object(object)
    }
}

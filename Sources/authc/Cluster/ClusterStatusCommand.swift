import AuthWire
import CommandArguments

extension Cluster {
    struct Hosts: AgentCommand {
        static let configuration = CommandConfiguration(
            commandName: "status", abstract: "Show the hosts that share your sessions, and the members of etcd.",
            discussion: """
                In a file or pipe: no headers; a line that begins with `host` has the name, version, state, date of the last \
                report, `this` and the ID; one with `etcd` the endpoint, state, `leader`, version, Raft's term and index, \
                entries behind, bytes and alarms; one with `renewal` the session and the host; the last one, with `authd`, \
                etcd's revision, the one that authd has processed, and the changes that it has not. - is an empty one. The \
                exit status is 4 if only a part is known.
                """)

        private static let fields = ClusterStatus.memberList.map(\.name)

        @Option(
            name: .customLong("json"), defaultAsFlag: "",
            help: ArgumentHelp("Print JSON, errors too; with names, only these fields.", valueName: "field,..."),
            completion: .live { $0.listed(Hosts.fields) })
        var json: String?

        @OptionGroup var common: PlainOptions

        var options: Options {
            var options = common.options
            options.json = json != nil
            return options
        }

        func run(_ options: Options) throws(Failure) -> ExitStatus {
            let names = (json ?? "").split(separator: ",", omittingEmptySubsequences: json?.isEmpty ?? true)
                .map(String.init)
            for name in names where !Self.fields.contains(name) {
                let near = NameAdvice.meant(name, among: Self.fields).map { $0 + " " } ?? ""
                throw .usage(
                    "--json: there is no field '\(Visible.line(name))'",
                    hint: near + "The fields are " + Self.fields.joined(separator: ", "))
            }
            let (status, json) = try options.connect().call(ClusterStatusGet())
            if !names.isEmpty {
                var object = JSONObject()
                for name in names { object[name] = json[name] ?? .null }
                try Output.json(.object(object))
            } else if options.json {
                try Output.json(json)
            } else {
                let text = ClusterStatusText(status: status, now: WallClock.now, screen: .current).text
                try Output.result(text)
                if let message = status.message { Output.note(Visible.lines(message)) }
            }
            return status.cause == nil ? .done : .keyring
        }
    }
}

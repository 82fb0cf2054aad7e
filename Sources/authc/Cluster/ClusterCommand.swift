import AuthWire
import CommandArguments

struct Cluster: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cluster", abstract: "Manage the hosts that share your sessions in etcd.",
        subcommands: [Hosts.self, Join.self, Admit.self, Forget.self])

    struct Join: AgentCommand {
        static let configuration = CommandConfiguration(
            commandName: "join", abstract: "Request that this host be admitted.",
            discussion:
                "Shows a code. Type it on a host that is a member, within ten minutes: `authc cluster admit CODE`.")

        @OptionGroup var common: GeneralOptions

        func run(_ options: Options) throws(Failure) -> ExitStatus {
            let (result, json) = try options.connect(beforeSecrets: true).call(ClusterJoin())
            if options.json { return try Output.jsonResult(json) }
            try Output.result(Visible.line(result.code))
            Output.note("Run on a host that is a member, within ten minutes: `authc cluster admit \(result.code)`")
            return .done
        }
    }

    struct Admit: AgentCommand {
        static let configuration = CommandConfiguration(
            commandName: "admit", abstract: "Admit the host that shows this code.")

        @OptionGroup var common: GeneralOptions

        @Argument(help: "The code that `authc cluster join` shows there.", completion: .nothing)
        var code: String

        func run(_ options: Options) throws(Failure) -> ExitStatus {
            let (result, json) = try options.connect(beforeSecrets: true).call(ClusterAdmit(code: code))
            if options.json { try Output.json(json) } else { Output.note(Visible.lines(result.message ?? "")) }
            return .done
        }
    }

    struct Forget: AgentCommand {
        static let configuration = CommandConfiguration(
            commandName: "forget", abstract: "Remove a host from the cluster.",
            discussion:
                "Seals every session with a new key, and renews every session, which usually ends the tokens that the host "
                + "has read. First waits for renewals in progress: some seconds, or minutes if a host does not finish one."
        )

        @OptionGroup var common: GeneralOptions

        @Argument(help: "Its ID or name, as in `authc cluster status`.", completion: .clusterHosts)
        var host: String

        func run(_ options: Options) throws(Failure) -> ExitStatus {
            let (result, json) = try options.connect().call(
                ClusterForget(host: host), usually: Agent.changeOfAllSessions)
            if options.json { try Output.json(json) } else { Output.note(Visible.lines(result.message ?? "")) }
            return .done
        }
    }
}

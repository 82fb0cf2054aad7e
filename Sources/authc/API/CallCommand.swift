import AuthConnection
import AuthWire
import CommandArguments

struct Call: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "call", abstract: "Call an endpoint of the provider by its name.",
        discussion: "`authc provider show PROVIDER --endpoints` lists them with their arguments.")

    @OptionGroup var common: AskingCommonOptions
    @OptionGroup var flags: CallFlags

    @Argument(help: "The endpoint.", completion: .endpoints)
    var name: String

    @Argument(
        help: ArgumentHelp("NAME=TEXT, NAME:=JSON, or NAME=@FILE.", valueName: "argument"), completion: .arguments)
    var arguments: [String] = []

    @Option(
        help: ArgumentHelp("Read a secret argument from an open descriptor.", valueName: "name=fd"),
        completion: .secretArguments)
    var secretFd: [String] = []

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        try flags.checkPages()
        try FieldArguments.checkOpen(secretFd)
        if !secretFd.isEmpty { try options.prepareForSecrets() }
        let given = try CallArguments(arguments, secretDescriptors: secretFd)
        let agent = try options.connect()
        let session = try options.chosenSession()
        let info = try EndpointInfo.named(name, of: session, agent)
        try agent.introduce()
        let (args, file) = try given.values(for: info, options)
        var params = APICall(
            session: session, endpoint: name, args: args,
            timeout: options.timeout, cache: flags.cache, retry: flags.retry,
            waitsForConnectivity: flags.waitForNetwork, queue: flags.queue)
        if file != nil || flags.output != nil {
            try flags.refuseQueue()
            guard !flags.all else { throw .usage("--all is for a GET, which has no file") }
            (params.stream, params.answer) = (Transfer.stream, flags.output == nil ? .whole : .stream)
            return try flags.transfer(params, file, options)
        }
        var pages = PageOutput(of: name, flags, options, arguments: params.args)
        while true {
            let (response, json) = try agent.call(params, within: options.responseTimeout)
            switch try pages.show(response, json) {
            case nil: return .done
            case .address(let next): params.next = next
            case .arguments(let next): for (name, value) in next { params.args[name] = value }
            }
        }
    }
}

extension EndpointInfo {
    /// An endpoint of a session's provider; `nil` if there is none: the agent's error explains that better.
    static func named(_ name: String, of session: SessionName?, _ agent: Agent) throws(Failure) -> EndpointInfo? {
        try provider(of: session, agent).endpoints.first { $0.name == name }
    }

    /// The provider of a session, with its endpoints.
    static func provider(of session: SessionName?, _ agent: Agent) throws(Failure) -> ProviderDetail {
        let status = try agent.call(SessionStatusGet(SessionParams(session: session))).value
        return try agent.call(ProviderShow(ProviderParams(provider: status.provider))).value
    }
}

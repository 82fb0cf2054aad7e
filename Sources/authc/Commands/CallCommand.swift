import ArgumentParser
import AuthClient
import AuthWire

struct Call: AgentCommand {
    /// For `--all`, because a provider's pages may never end.
    private static let maxPages = 100_000

    static let configuration = CommandConfiguration(
        abstract: "Call an endpoint of the provider by its name.",
        discussion: "`authc provider show PROVIDER --endpoints` lists them with their arguments.")

    @OptionGroup var common: CommonOptions
    @OptionGroup var flags: CallFlags

    @Argument(help: "The endpoint.", completion: .custom { words, _, _ in KnownNames.endpoints(words) })
    var name: String

    @Argument(help: ArgumentHelp("NAME=TEXT, NAME:=JSON, or NAME=@FILE.", valueName: "argument"))
    var arguments: [String] = []

    @Option(help: ArgumentHelp("Read a secret argument from an open descriptor.", valueName: "name=fd"))
    var secretFd: [String] = []

    @Flag(help: "Get all pages, and print one line of JSON for each item.")
    var all = false

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        try FieldArguments.checkOpen(secretFd)
        if !secretFd.isEmpty { try options.prepareForSecrets() }
        let given = try CallArguments(arguments, secretDescriptors: secretFd)
        let agent = try options.connect()
        let session = try options.chosenSession()
        let info = try endpointInfo(agent, session)
        try agent.introduce()
        let (args, file) = try given.values(for: info, options)
        var params = APICall(
            session: session, endpoint: name, args: args,
            timeout: options.timeout, cache: flags.cache, retry: flags.retry,
            waitsForConnectivity: flags.waitForNetwork, queue: flags.queue)
        if file != nil || flags.output != nil {
            try flags.refuseQueue()
            guard !all else { throw .usage("--all prints to stdout; remove --output") }
            (params.stream, params.answer) = (Transfer.stream, flags.output == nil ? .whole : .stream)
            return try flags.transfer(params, file, options)
        }
        guard all else {
            let (response, json) = try agent.call(params, within: options.responseTimeout)
            try ResponseOutput(options: options, include: flags.include).show(response, json)
            return .done
        }
        for _ in 1...Self.maxPages {
            let (response, _) = try agent.call(params, within: options.responseTimeout)
            guard let next = try show(itemsOf: response) else { return .done }
            for (name, value) in next { params.args[name] = value }
        }
        throw Failure(
            status: .badReply, kind: ErrorKind.badReply.rawValue,
            message: "\(name) has more than \(Self.maxPages) pages and may never end")
    }

    /// `nil` if there is no such endpoint; the agent's error explains that better.
    private func endpointInfo(_ agent: Agent, _ session: SessionName?) throws(Failure) -> EndpointInfo? {
        let status = try agent.call(SessionStatusGet(SessionParams(session: session))).value
        let provider = ProviderParams(provider: status.provider)
        let detail = try agent.call(ProviderShow(provider)).value
        return detail.endpoints.first { $0.name == name }
    }

    /// Prints one line of JSON for each item.
    /// - Returns: the arguments of the next page; `nil` after the last one.
    private func show(itemsOf response: APIResponse) throws(Failure) -> JSONObject? {
        guard let page = response.page else {
            throw .usage("\(name) has no pages", hint: "remove --all")
        }
        guard let pointer = try? JSONPointer(page.items), let body = response.body,
            let items = pointer.find(in: body)?.arrayValue
        else {
            throw Failure(
                status: .badReply, kind: ErrorKind.badReply.rawValue,
                message: "the response of \(name) has no list at '\(page.items)'")
        }
        for item in items { try Output.json(item) }
        return page.next
    }
}

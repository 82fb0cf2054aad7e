import AuthClient
import AuthWire

/// `authc call`: calls an endpoint by its name in the profile.
struct CallCommand {
    /// For `--all`, because a provider's pages may never end.
    private static let maxPages = 100_000

    var endpoint: String
    var arguments: CallArguments
    var all: Bool
    var include: Bool
    var calls: CallOptions

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        let agent = try options.connect()
        let session = try options.chosenSession()
        let info = try endpointInfo(agent, session)
        try agent.introduce()
        let (args, file) = try arguments.values(for: info, options)
        var params = APICall(
            session: session, endpoint: endpoint, args: args,
            timeout: options.timeout, cache: calls.cache, retry: calls.retry,
            waitsForConnectivity: calls.waitsForConnectivity, queue: calls.queue)
        if file != nil || calls.output != nil {
            try calls.refuseQueue()
            guard !all else { throw .usage("--all prints to stdout; remove --output") }
            (params.stream, params.answer) = (Transfer.stream, calls.output == nil ? .whole : .stream)
            return try calls.transfer(params, file, options, include: include)
        }
        guard all else {
            let (response, json) = try agent.call(params, within: options.responseTimeout)
            try ResponseOutput(options: options, include: include).show(response, json)
            return .done
        }
        for _ in 1...Self.maxPages {
            let (response, _) = try agent.call(params, within: options.responseTimeout)
            guard let next = try show(itemsOf: response) else { return .done }
            for (name, value) in next { params.args[name] = value }
        }
        throw Failure(
            status: .badReply, kind: ErrorKind.badReply.rawValue,
            message: "\(endpoint) has more than \(Self.maxPages) pages and may never end")
    }

    /// `nil` if there is no such endpoint; the agent's error explains that better.
    private func endpointInfo(_ agent: Agent, _ session: SessionName?) throws(Failure) -> EndpointInfo? {
        let status = try agent.call(SessionStatusGet(SessionParams(session: session))).value
        let provider = ProviderParams(provider: status.provider)
        let detail = try agent.call(ProviderShow(provider)).value
        return detail.endpoints.first { $0.name == endpoint }
    }

    /// Prints one line of JSON for each item.
    /// - Returns: the arguments of the next page; `nil` after the last one.
    private func show(itemsOf response: APIResponse) throws(Failure) -> JSONObject? {
        guard let page = response.page else {
            throw .usage("\(endpoint) has no pages", hint: "remove --all")
        }
        guard let pointer = try? JSONPointer(page.items), let body = response.body,
            let items = pointer.find(in: body)?.arrayValue
        else {
            throw Failure(
                status: .badReply, kind: ErrorKind.badReply.rawValue,
                message: "the response of \(endpoint) has no list at '\(page.items)'")
        }
        for item in items { try Output.json(item) }
        return page.next
    }
}

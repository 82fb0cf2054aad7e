import AuthConnection
import AuthWire
import CommandArguments

struct CallFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp("How to use the cache: default, reload or only.", valueName: "mode"),
        completion: .words(CacheMode.self),
        transform: cacheMode)
    var cache: CacheMode = .standard

    @Flag(inversion: .prefixedNo, help: "Retry after a temporary failure, if the request may be repeated.")
    var retry = true

    @Flag(inversion: .prefixedNo, help: "Wait for a network instead of failing. Default: as the profile says.")
    var waitForNetwork: Bool?

    @Flag(help: "If the request cannot be sent now, queue it and send it later: see `authc outbox`.")
    var queue = false

    @Flag(help: "Get all pages, and print them one after another: each item, or each page, as one line of JSON.")
    var all = false

    @Flag(help: "With --all: print one JSON array.")
    var slurp = false

    @Flag(name: [.short, .long], help: "Print status and headers before the body.")
    var include = false

    @Option(
        name: [.short, .long],
        help: ArgumentHelp("Write the response to a file, whatever its size; - is stdout.", valueName: "file"),
        completion: .file)
    var output: String?

    func checkPages() throws(Failure) {
        guard all || !slurp else { throw .usage("--slurp belongs to --all") }
        guard !all || output == nil else { throw .usage("--all prints to stdout; remove --output") }
        guard !all || !queue else { throw .usage("--all needs the responses now; remove --queue") }
    }

    func refuseQueue() throws(Failure) {
        guard queue else { return }
        throw .usage("--queue needs a body of less than 1 MiB and no --output")
    }

    /// Performs a call with a long body or a response of any length.
    func transfer(
        _ request: some AgentMethod<APIResponse>, _ file: BodyFile?, _ options: Options
    ) throws(Failure) -> ExitStatus {
        var transfer = Transfer(request, options, body: file, output: try output.map(ResponseFile.init))
        let (response, json) = try transfer.run()
        try ResponseOutput(options: options, include: include).show(response, json)
        return .done
    }
}

extension Options {
    /// Longer than the agent's own limit, so that its error arrives first.
    var responseTimeout: Duration { timeout.map { $0 + Agent.grace } ?? Agent.defaultTimeout }
}

private func cacheMode(_ text: String) throws(ValidationError) -> CacheMode { try word(text) }

import ArgumentParser
import AuthClient
import AuthWire

/// Options of `request` and `call`.
struct CallFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp("How to use the cache: default, reload or only.", valueName: "mode"),
        transform: cacheMode)
    var cache: CacheMode = .standard

    @Flag(inversion: .prefixedNo, help: "Retry after a temporary failure, if the request may be repeated.")
    var retry = true

    @Flag(inversion: .prefixedNo, help: "Wait for a network instead of failing. Default: as the profile says.")
    var waitForNetwork: Bool?

    @Flag(help: "If the request cannot be sent now, queue it and send it later: see `authc outbox`.")
    var queue = false

    @Flag(name: [.short, .long], help: "Print status and headers before the body.")
    var include = false

    @Option(
        name: [.short, .long],
        help: ArgumentHelp("Write the response to a file, whatever its size; - is stdout.", valueName: "file")
    )
    var output: String?

    var options: CallOptions {
        CallOptions(
            cache: cache, retry: retry, waitsForConnectivity: waitForNetwork, queue: queue,
            output: output)
    }
}

struct Request: AgentCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send a request to the provider's API with the session's token.",
        discussion: """
            The token is sent to the provider's own origin only. After a 401 the token is renewed and the request is \
            sent again, once. The body of the response goes to stdout.
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var flags: CallFlags

    @Argument(help: "GET, POST, PUT, PATCH, DELETE…")
    var method: String

    @Argument(help: "The path after the environment's base URL, such as /users?page=2; '' is the base URL itself.")
    var path: String

    @Option(name: [.customShort("d"), .long], help: "The body: a text, @FILE, or @- for stdin.")
    var data: String?

    @Option(
        name: [.customShort("F"), .long],
        help: ArgumentHelp("A part of a form: NAME=TEXT or NAME=@FILE;type=…;filename=…", valueName: "part"))
    var form: [String] = []

    @Option(name: [.customShort("H"), .long], help: ArgumentHelp("A header: 'NAME: VALUE'.", valueName: "header"))
    var header: [String] = []

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        try RequestCommand(
            method: method.uppercased(), path: path, headers: header,
            body: try RequestBody(data: data, forms: form), include: flags.include, calls: flags.options
        ).run(options)
    }
}

struct Call: AgentCommand {
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
        return try CallCommand(
            endpoint: name, arguments: try CallArguments(arguments, secretDescriptors: secretFd), all: all,
            include: flags.include, calls: flags.options
        ).run(options)
    }
}

@Sendable private func cacheMode(_ text: String) throws -> CacheMode {
    guard let mode = CacheMode(rawValue: text) else {
        let words = CacheMode.allCases.map(\.rawValue).joined(separator: ", ")
        throw ValidationError("'\(Visible.line(text))' is not one of \(words).")
    }
    return mode
}

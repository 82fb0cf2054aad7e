import AuthWire
import CommandArguments

struct Request: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "request", abstract: "Send a request to the provider's API with the session's token.",
        discussion: """
            The token is sent to the provider's own origin only. After a 401 the token is renewed and the request is \
            sent again, once. The body of the response goes to stdout.
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var flags: CallFlags

    @Argument(
        help: "Such as GET, POST, PUT, PATCH or DELETE.",
        completion: .list(HTTPMethod.common))
    var method: String

    @Argument(
        help: "The path after the environment's base URL, such as /users?page=2; '' is the base URL itself.",
        completion: .paths)
    var path: String

    @Option(name: [.customShort("d"), .long], help: "The body: a text, @FILE, or @- for stdin.", completion: .nothing)
    var data: String?

    @Option(
        name: [.customShort("F"), .long],
        help: ArgumentHelp("A part of a form: NAME=TEXT or NAME=@FILE;type=TYPE;filename=NAME.", valueName: "part"),
        completion: .nothing)
    var form: [String] = []

    @Option(
        name: [.customShort("H"), .long], help: ArgumentHelp("A header: 'NAME: VALUE'.", valueName: "header"),
        completion: .nothing)
    var header: [String] = []

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        try flags.checkPages()
        try HTTPMethod.check(method.uppercased())
        try checkPath()
        guard !flags.all || method.uppercased() == "GET" else { throw .usage("--all is for a GET") }
        let body = try RequestBody(data: data, forms: form)
        var headers = try fields()
        if let type = body.type, !headers.keys.contains(where: { $0.lowercased() == "content-type" }) {
            headers["Content-Type"] = type
        }
        var params = APIRequest(
            session: try options.chosenSession(), method: method.uppercased(), path: path, headers: headers,
            bodyBase64: body.bytes.map(Base64.encode), multipart: body.parts, timeout: options.timeout,
            cache: flags.cache, retry: flags.retry, waitsForConnectivity: flags.waitForNetwork, queue: flags.queue)
        if body.file != nil || flags.output != nil {
            try flags.refuseQueue()
            (params.stream, params.answer) = (Transfer.stream, flags.output == nil ? .whole : .stream)
            if body.parts == nil { params.bodyStream = body.file?.announced }
            return try flags.transfer(params, body.file, options)
        }
        let agent = try options.connect()
        var pages = PageOutput(of: path, flags, options)
        while true {
            let (response, json) = try agent.call(params, within: options.responseTimeout)
            guard case .address(let next)? = try pages.show(response, json) else { return .done }
            params.path = next
        }
    }

    /// A path is absolute, a query alone, or a URL.
    private func checkPath() throws(Failure) {
        guard !path.isEmpty, !path.hasPrefix("/"), !path.hasPrefix("?"), !path.contains("://") else { return }
        var words = ["request", method, "/" + path]
        if let session = common.session { words += ["-s", session] }
        throw .usage("the path must begin with '/'", hint: "did you mean `\(CommandText.authc(words))`?")
    }

    private func fields() throws(Failure) -> [String: String] {
        var fields: [String: String] = [:]
        for line in header {
            guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else {
                throw .usage("-H has the form 'NAME: VALUE'")
            }
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            fields[String(line[..<colon])] = String(value)
        }
        return fields
    }
}

import AuthWire

/// `authc request`: sends a request to the provider's API with the session's token.
struct RequestCommand {
    var method: String
    var path: String
    /// `Name: value`, as typed.
    var headers: [String]
    var body: RequestBody
    var include: Bool
    var calls: CallOptions

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        var headers = try fields()
        if let type = body.type, !headers.keys.contains(where: { $0.lowercased() == "content-type" }) {
            headers["Content-Type"] = type
        }
        var params = APIRequest(
            session: try options.chosenSession(), method: method, path: path, headers: headers,
            bodyBase64: body.bytes.map(Base64.encode), multipart: body.parts, timeout: options.timeout,
            cache: calls.cache, retry: calls.retry, waitsForConnectivity: calls.waitsForConnectivity,
            queue: calls.queue)
        if body.file != nil || calls.output != nil {
            try calls.refuseQueue()
            (params.stream, params.answer) = (Transfer.stream, calls.output == nil ? .whole : .stream)
            if body.parts == nil { params.bodyStream = body.file?.announced }
            return try calls.transfer(params, body.file, options, include: include)
        }
        let (response, json) = try options.connect().call(
            params, within: options.responseTimeout)
        try ResponseOutput(options: options, include: include).show(response, json)
        return .done
    }

    private func fields() throws(Failure) -> [String: String] {
        var fields: [String: String] = [:]
        for header in headers {
            guard let colon = header.firstIndex(of: ":"), colon != header.startIndex else {
                throw .usage("-H has the form 'NAME: VALUE'")
            }
            let value = header[header.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            fields[String(header[..<colon])] = String(value)
        }
        return fields
    }
}

/// Options of `request` and `call`.
struct CallOptions {
    var cache = CacheMode.standard
    var retry = true
    var waitsForConnectivity: Bool?
    var queue = false
    /// The file for the response; `nil` prints it to stdout as one piece.
    var output: String?

    func refuseQueue() throws(Failure) {
        guard queue else { return }
        throw .usage("--queue needs a body of less than 1 MiB and no --output")
    }

    /// Performs a call with a long body or a response of any length.
    func transfer(
        _ request: some AgentMethod<APIResponse>, _ file: BodyFile?, _ options: Options, include: Bool
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

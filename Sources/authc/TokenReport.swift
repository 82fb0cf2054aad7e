import AuthWire

/// `authc token`: prints the token and a line feed.
enum TokenReport {
    static func run(
        _ options: Options, minValid: Duration? = nil, scopes: [String]? = nil, audience: String? = nil,
        origin: String? = nil
    ) throws(Failure) -> ExitStatus {
        let params = TokenGet(
            session: try options.chosenSession(), minValid: minValid, scopes: scopes, audience: audience,
            timeout: options.timeout, origin: origin)
        let agent = try options.connect()
        let time = options.timeout.map { $0 + Agent.grace } ?? Agent.defaultTimeout
        let (token, json) = try agent.call(params, within: time)
        if options.json { return try Output.jsonResult(json) }
        if let minValid, let valid = token.valid, valid < minValid {
            Output.note(
                "authc: the token is valid for \(Span.text(valid)), less than --min-valid \(Span.text(minValid)); "
                    + "the provider issues no longer one now")
        }
        // RFC 6750 §2.1 allows visible ASCII only. A line feed could become a header of its own.
        guard token.accessToken.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw Failure(
                status: .badReply, kind: ErrorKind.badReply.rawValue,
                message: "the token of \(token.session) has invalid characters and was not printed",
                hint: "`authc token --json` shows it escaped")
        }
        try Output.result(token.accessToken)
        return .done
    }
}

import AuthWire
import Glibc

/// `authc token`: prints the token and a line feed.
enum TokenReport {
    static func run(_ options: Options, origin: String? = nil) throws(Failure) -> ExitStatus {
        if let origin { try OriginArgument.check(origin) }
        return try run(
            options, TokenRequest(session: options.chosenSession(), origin: origin, timeout: options.timeout))
    }

    static func run(_ options: Options, _ request: TokenRequest) throws(Failure) -> ExitStatus {
        let agent = try options.connect()
        let (token, json) = try agent.call(request.method, within: request.time)
        if options.json { return try Output.jsonResult(json) }
        noteIfShort(token, request)
        try check(token)
        try Output.result(token.accessToken)
        return .done
    }

    /// Reports a token that is valid for less time than the program asked for.
    static func noteIfShort(_ token: TokenResult, _ request: TokenRequest) {
        guard let minValid = request.minValid, let valid = token.valid, valid < minValid else { return }
        Output.note(
            "authc: the token is valid for \(Span.text(valid)), less than --min-valid \(Span.text(minValid)); "
                + "the provider issues no token that is valid for longer")
    }

    /// `authc token --reject`: a program got a 401 with the token on stdin.
    static func reject(_ options: Options, _ request: TokenRequest) throws(Failure) -> ExitStatus {
        try options.prepareForSecrets()
        let refused = try FieldArguments.secret(from: STDIN_FILENO, named: "--reject")
        let agent = try options.connect()
        // The session of an origin is the one whose token would be printed.
        let session =
            request.origin == nil
            ? request.session : try agent.call(request.method, within: request.time).value.session
        let (_, json) = try agent.call(TokenReject(session: session, accessToken: refused), within: request.time)
        if options.json { try Output.json(json) }
        return .done
    }

    /// RFC 6750 §2.1 allows visible ASCII only. A line feed could start another header.
    static func check(_ token: TokenResult) throws(Failure) {
        guard (token.accessToken + token.tokenType).utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw Failure(
                status: .badReply, kind: ErrorKind.badReply.rawValue,
                message: "the token of \(token.session) has invalid characters and was not printed",
                hint: "`authc token --json` shows it escaped")
        }
    }
}

import AuthWire

extension MethodName {
    private static let session = MethodAbout.Param.takes("session")
    private static let fields = MethodAbout.Param.takes("fields", .object)
    private static let timeout = MethodAbout.Param.takes("timeout_ms", .integer)

    /// Kept beside no second list: a method that is added does not compile until it is described here.
    var about: MethodAbout {
        switch self {
        case .agentInfo: MethodAbout("Version, process and store of the agent.", gives: "info")
        case .agentPing: MethodAbout("Answers at once.", gives: "pong")
        case .agentStats: MethodAbout("Counters since the agent was started.", gives: "stats")
        case .agentReload:
            MethodAbout("Reads settings and profiles anew.", [.takes("check", .boolean)], gives: "message")
        case .agentLock: MethodAbout("Locks the agent.", gives: "message")
        case .agentUnlock:
            MethodAbout("Opens the store, by its passphrase if it has one.", [.takes("passphrase")], gives: "store")
        case .rpcDiscover: MethodAbout("This document.", gives: "openrpc")
        case .providerList: MethodAbout("The providers there are.", gives: "providers")
        case .providerShow: MethodAbout("One provider.", [.needs("provider")], gives: "provider")
        case .providerCheck:
            MethodAbout("Checks a profile's text.", [.needs("text"), .takes("file")], gives: "problems")
        case .providerForget:
            MethodAbout(
                "Drops what a provider has registered authd as, and deletes it there.", [.needs("provider")],
                gives: "forgotten")
        case .loginStart, .loginAnswer, .loginWait, .loginCancel, .loginResend, .loginRedirect: aboutLogin
        case .sessionList, .sessionStatus, .sessionUse, .sessionRefresh, .sessionValidate, .sessionLogout, .sessionWait:
            aboutSession
        case .passwordSet: MethodAbout("Sets a first password.", passwordParams, gives: "step")
        case .passwordChange: MethodAbout("Changes the password.", passwordParams, gives: "step")
        case .passwordRequestReset: MethodAbout("Asks for a reset of the password.", passwordParams, gives: "step")
        case .passwordReset: MethodAbout("Resets the password and signs in.", passwordParams, gives: "step")
        case .tokenGet:
            MethodAbout(
                "An access token that is good now.",
                [
                    Self.session, .takes("min_valid_ms", .integer), .takes("scopes", .array), .takes("audience"),
                    .takes("purpose"), Self.timeout, .takes("origin"),
                ], gives: "token")
        case .tokenReject:
            MethodAbout(
                "Tells that a token got a 401: it is renewed if it is still the current one.",
                [Self.session, .needs("access_token")], gives: "status")
        case .tokenProof:
            MethodAbout(
                "A proof for one request that a program sends by itself, where tokens are bound to a key (RFC 9449).",
                [Self.session, .needs("method"), .needs("url"), .takes("nonce"), .takes("access_token")],
                gives: "proof")
        case .userGet:
            MethodAbout("The provider's user.", [Self.session, .takes("fresh", .boolean)], gives: "user")
        case .userUpdate: MethodAbout("Changes the user.", [Self.session, .needs("fields", .object)], gives: "user")
        case .apiRequest, .apiCall: aboutAPI
        case .apiWrite:
            MethodAbout(
                "Gives a piece of a body that is streamed; answered when it is taken.",
                [.needs("stream"), .needs("offset", .integer), .takes("body_base64"), .takes("last", .boolean)],
                gives: "taken")
        case .apiRead: MethodAbout("The next piece of an answer.", [.needs("stream")], gives: "piece")
        case .apiClose: MethodAbout("Ends a stream early.", [.needs("stream")], gives: "nothing")
        case .networkStatus: MethodAbout("How far the network reaches.", gives: "network")
        case .eventsSubscribe:
            MethodAbout(
                "Sends an `event` notification at every change, a snapshot first.",
                [.takes("topics", .array), Self.session], gives: "nothing")
        case .eventsUnsubscribe:
            MethodAbout("Ends that.", [.takes("topics", .array), Self.session], gives: "nothing")
        case .outboxList: MethodAbout("Writes that wait.", [Self.session, .takes("id")], gives: "outbox")
        case .outboxFlush: MethodAbout("Tries them now.", [Self.session, .takes("id")], gives: "outbox")
        case .storeRekey:
            MethodAbout(
                "Seals every session with a new key.", [.takes("passphrase"), .takes("key_base64")], gives: "message")
        case .storeMigrate:
            MethodAbout(
                "Moves every session to another store.", [.needs("to"), .takes("passphrase")], gives: "message")
        case .sessionExport:
            MethodAbout(
                "Gives sessions, sealed where a passphrase is given.", [Self.session, .takes("passphrase")],
                gives: "parcel")
        case .sessionImport:
            MethodAbout(
                "Takes what an export gave, with the passphrase that sealed it.",
                [.needs("parcel_base64"), .takes("passphrase")], gives: "imported")
        case .sessionTrust:
            MethodAbout(
                "Shows which new places a changed profile names for a session, or lets its tokens be sent there.",
                [Self.session, .takes("origins", .array)], gives: "trust")
        case .outboxDrop: MethodAbout("Drops them.", [Self.session, .takes("id")], gives: "outbox")
        }
    }

    private var aboutLogin: MethodAbout {
        switch self {
        case .loginStart:
            MethodAbout(
                "Begins a sign-in.",
                [
                    .needs("provider"), Self.session, .takes("environment"), .takes("method"), Self.fields,
                    .takes("remember", .boolean), .takes("browser", .boolean), .takes("replace_sign_in", .boolean),
                    .takes("replace_account", .boolean),
                ], gives: "step")
        case .loginAnswer:
            MethodAbout("Gives what the step asks for.", [.needs("login"), .needs("fields", .object)], gives: "step")
        case .loginCancel: MethodAbout("Ends the sign-in.", [.needs("login")], gives: "step")
        case .loginResend: MethodAbout("Asks for another code.", [.needs("login")], gives: "step")
        case .loginRedirect:
            MethodAbout(
                "Hands an address of a scheme of ours to the sign-in that it ends.", [.needs("address")],
                gives: "nothing")
        default: MethodAbout("Waits for the step to change.", [.needs("login")], gives: "step")
        }
    }

    private var aboutSession: MethodAbout {
        switch self {
        case .sessionList: MethodAbout("Every session.", gives: "sessions")
        case .sessionUse: MethodAbout("Makes a session the default.", [.needs("session")], gives: "status")
        case .sessionRefresh: MethodAbout("Renews a session now.", [Self.session], gives: "status")
        case .sessionValidate: MethodAbout("Asks the provider about it.", [Self.session], gives: "status")
        case .sessionLogout:
            MethodAbout("Signs out.", [Self.session, .takes("revoke", .boolean)], gives: "status")
        case .sessionWait:
            MethodAbout(
                "Waits until the session is so.", [Self.session, .needs("until"), Self.timeout], gives: "status")
        default: MethodAbout("One session.", [Self.session], gives: "status")
        }
    }

    private var aboutAPI: MethodAbout {
        let common: [MethodAbout.Param] = [
            .takes("body", .any), Self.timeout, .takes("cache"), .takes("retry", .boolean),
            .takes("waits_for_connectivity", .boolean), .takes("queue", .boolean), .takes("stream"), .takes("answer"),
        ]
        return self == .apiCall
            ? MethodAbout(
                "Calls an endpoint of the profile.",
                [Self.session, .needs("endpoint"), .takes("args", .object)] + common, gives: "response")
            : MethodAbout(
                "Sends a request with the session's token.",
                [
                    Self.session, .needs("method"), .needs("path"), .takes("query", .object),
                    .takes("headers", .object), .takes("body_base64"), .takes("multipart", .array),
                    .takes("body_stream", .object),
                ] + common, gives: "response")
    }

    private var passwordParams: [MethodAbout.Param] {
        [
            Self.session, .takes("provider"), .takes("environment"), Self.fields, .takes("replace_sign_in", .boolean),
            .takes("replace_account", .boolean),
        ]
    }
}

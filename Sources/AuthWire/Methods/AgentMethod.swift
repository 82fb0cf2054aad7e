/// A method of the protocol. A value of the type is one request: its members are the params.
public protocol AgentMethod<Result>: WireObject {
    associatedtype Result: WireObject

    /// As on the wire.
    static var name: String { get }
    /// One sentence for `rpc.discover` and the protocol's page.
    static var summary: String { get }
    static var access: AccessClass { get }
    static var secrecy: Secrecy { get }
    /// Whether an unknown key in the params is an error, because the request would mean something else without it.
    static var isStrict: Bool { get }
    /// Whether this request may only go to an agent of the same user.
    var sendsSecrets: Bool { get }
}

/// What a method lets a program do.
public enum AccessClass: String, Sendable, CaseIterable {
    /// Reads what the agent knows of sessions, providers, the network and the outbox; never a token.
    case status
    /// Gets, renews and rejects access tokens.
    case token
    /// Calls the provider's API in the user's name, and sends or drops queued writes.
    case act
    /// Signs in and out, and changes passwords, the user and the default session.
    case account
    /// Changes the agent, its stores and what it trusts, and exports and imports sessions.
    case admin
}

/// Whether a method's messages hold secrets.
public enum Secrecy: Sendable {
    case none
    /// The params or the result hold some, such as a token or data of a provider's API.
    case guarded
    /// The params hold a password, a key, a code or whole sessions.
    case ownAgentOnly
}

extension AgentMethod {
    public static var secrecy: Secrecy { .none }
    public static var isStrict: Bool { false }
    public var sendsSecrets: Bool { Self.secrecy == .ownAgentOnly }

    /// Whether the params or the result hold secrets.
    package var holdsSecrets: Bool { sendsSecrets || Self.secrecy != .none }

    /// The result's type in `rpc.discover` and on the protocol's page.
    package static var resultName: String { "\(Result.self)" }

    /// - Parameter params: absent, or an object. An empty array is the same as absent.
    /// - Throws: JSON-RPC's -32602, which names the key and what was expected.
    public init(params: JSON?) throws(AgentError) {
        let object = try JSONObject(params: params)
        var decoder = ObjectDecoder(object, from: .params)
        self.init(blank: Blank())
        try members(&decoder)
        try validate()
        if Self.isStrict, decoder.knownKeys < object.count { try ParamNames.check(object, of: Self.self) }
    }
}

/// A method without params.
public protocol MethodWithoutParams: AgentMethod {
    init()
}

extension MethodWithoutParams {
    public init(blank: Blank) { self.init() }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {}
}

/// A method whose params another method has too.
public protocol MethodWithParams<Params, Result>: AgentMethod {
    associatedtype Params: WireObject
    var params: Params { get set }
    init(_ params: Params)
}

extension MethodWithParams {
    public init(blank: Blank) { self.init(Params(blank: blank)) }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try params.members(&visitor)
    }

    public func validate() throws(AgentError) { try params.validate() }
}

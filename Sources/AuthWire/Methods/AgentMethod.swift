/// A method of the protocol. A value of the type is one request: its members are the params.
public protocol AgentMethod<Result>: WireObject {
    associatedtype Result: WireObject

    static var info: MethodInfo { get }
    /// Whether this request may only go to an agent of the same user.
    var sendsSecrets: Bool { get }
}

/// What a method is called, and what it does.
public struct MethodInfo: Sendable {
    let name: String
    let access: AccessClass
    let secrecy: Secrecy
    let isStrict: Bool
    let summary: String

    /// - Parameters:
    ///   - summary: one sentence for `rpc.discover` and the protocol's page.
    ///   - isStrict: whether an unknown key in the params is an error, because the request would mean something else without
    ///     it.
    init(
        _ name: String, _ access: AccessClass, _ summary: String, secrecy: Secrecy = .none, isStrict: Bool = false
    ) {
        (self.name, self.access, self.summary) = (name, access, summary)
        (self.secrecy, self.isStrict) = (secrecy, isStrict)
    }
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
    /// Changes the agent, its stores and what it trusts, exports and imports sessions, and reads the audit log and the access
    /// rules.
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
    public static var name: String { info.name }
    public static var summary: String { info.summary }
    public static var access: AccessClass { info.access }
    public static var secrecy: Secrecy { info.secrecy }
    public static var isStrict: Bool { info.isStrict }
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

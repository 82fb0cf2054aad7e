/// An object of the protocol or of a store. ``members(_:)`` lists its members once, to read, write and describe them.
public protocol WireObject: Sendable, Equatable {
    /// An object before its members are read. Only this package can create a ``Blank``.
    init(blank: Blank)

    /// Visits every member, in the order in which they are written.
    mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure)

    /// Checks what the members must satisfy together. Called after they are read.
    func validate() throws(AgentError)
}

/// The argument of ``WireObject/init(blank:)``.
public struct Blank: Sendable {
    package init() {}
}

extension WireObject {
    public func validate() throws(AgentError) {}

    /// Reads a result of the agent.
    public init(_ json: JSON) throws(AgentError) {
        guard case .object(let object) = json else {
            throw .internalError("The agent's result: expected an object, found \(json.kindName).")
        }
        try self.init(object, from: .result)
    }

    /// Reads an object that the agent has stored. The error's message is a reason: it names a member and no value.
    package static func decode(stored json: JSON) throws(AgentError) -> Self {
        guard case .object(let object) = json else { throw .internalError("it is not a JSON object") }
        return try Self(object, from: .store)
    }

    public var json: JSON {
        var copy = self
        var encoder = ObjectEncoder()
        copy.members(&encoder)
        return .object(encoder.object)
    }

    /// The members, in the order in which they are written.
    package static var memberList: [MemberDescription] {
        var blank = Self(blank: Blank())
        var describer = MemberDescriber()
        blank.members(&describer)
        return describer.list
    }

    init(_ object: JSONObject, from source: ObjectDecoder.Source) throws(AgentError) {
        var decoder = ObjectDecoder(object, from: source)
        self.init(blank: Blank())
        try members(&decoder)
        try validate()
    }
}

extension JSONObject {
    /// - Parameter params: absent, or an object. An empty array is the same as absent.
    init(params: JSON?) throws(AgentError) {
        switch params {
        case nil, .array([]): self.init()
        case .object(let object): self = object
        case .array: throw .invalidParams("params: expected an object, found an array.")
        case let other?: throw .invalidParams("params: expected an object, found \(other.kindName).")
        }
    }
}

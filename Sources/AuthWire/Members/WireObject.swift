/// An object of the protocol. Its members are listed once, in ``members(_:)``, to be read, written and described.
public protocol WireObject: Sendable, Equatable {
    /// What an object is before its members are read. Only this package makes a ``Blank``, so programs never see one.
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
            throw .internalError("The agent's answer should be an object and is \(json.kindName).")
        }
        try self.init(object, from: .result)
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
        case .array: throw .invalidParams("params: expected an object with names, found an array of positions.")
        case let other?: throw .invalidParams("params: expected an object, found \(other.kindName).")
        }
    }
}

/// Where sessions are kept.
public enum StoreKind: String, Sendable, CaseIterable {
    case secretService = "secret-service"
    case sealedFile = "sealed-file"
    case memory
}

/// How the store is.
public enum StoreState: String, Sendable, CaseIterable {
    case ready
    /// It goes on by itself once a person unlocks it.
    case locked
    /// There is no such service.
    case missing
    case denied
    case notAnswering = "not_answering"
    /// It answered with an error.
    case failed
    /// Not asked yet.
    case starting
}

public struct StoreInfo: Sendable, Equatable {
    public var kind: StoreKind
    public var state: StoreState
    /// For a person, when the state is no good one, or something in the store cannot be read.
    public var message: String?

    public init(kind: StoreKind, state: StoreState, message: String? = nil) {
        self.kind = kind
        self.state = state
        self.message = message
    }

    public init(_ json: JSON) throws(AgentError) {
        let members = try Members(result: json)
        kind = try members.required("kind", .word)
        state = try members.required("state", .word)
        message = try members.optional("message", .string)
    }

    public var json: JSON {
        var object: JSONObject = ["kind": .string(kind.rawValue), "state": .string(state.rawValue)]
        object["message"] = message.map(JSON.string)
        return .object(object)
    }
}

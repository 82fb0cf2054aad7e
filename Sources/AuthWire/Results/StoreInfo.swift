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
    /// It is asking the user something, and does nothing else until it has an answer.
    case waiting
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
    /// The program that provides it; `nil` if there is none, or it is not known.
    public var process: StoreProcess?

    public init(kind: StoreKind, state: StoreState, message: String? = nil, process: StoreProcess? = nil) {
        self.kind = kind
        self.state = state
        self.message = message
        self.process = process
    }

    public init(_ json: JSON) throws(AgentError) {
        let members = try Members(result: json)
        kind = try members.required("kind", .word)
        state = try members.required("state", .word)
        message = try members.optional("message", .string)
        process = try members.nested("process", StoreProcess.init)
    }

    public var json: JSON {
        var object: JSONObject = ["kind": .string(kind.rawValue), "state": .string(state.rawValue)]
        object["message"] = message.map(JSON.string)
        object["process"] = process?.json
        return .object(object)
    }
}

/// The process behind a store, such as the one that owns the keyring's name on the message bus.
public struct StoreProcess: Sendable, Equatable {
    public var pid: Int32
    /// As the kernel has it (proc(5), "comm"); `nil` if it cannot be read.
    public var name: String?

    public init(pid: Int32, name: String?) {
        self.pid = pid
        self.name = name
    }

    public init(_ json: JSON) throws(AgentError) {
        let members = try Members(result: json)
        pid = try members.required("pid", .processID)
        name = try members.optional("name", .string)
    }

    public var json: JSON {
        var object: JSONObject = ["pid": .whole(pid)]
        object["name"] = name.map(JSON.string)
        return .object(object)
    }
}

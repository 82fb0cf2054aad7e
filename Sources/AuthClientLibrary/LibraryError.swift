import AuthConnection
import AuthWire
import Glibc

/// An error as C sees it: strings that live as long as the object.
final class LibraryError {
    let kind: CString
    let message: CString
    let json: CString
    let isRetryable: Bool
    let retryAfter: Duration?

    init(_ error: ClientError) {
        let kind = Self.kind(of: error)
        let (isRetryable, retryAfter, object) = Self.facts(of: error, kind: kind)
        self.kind = CString(kind)
        message = CString("\(error)")
        json = CString(object.text())
        self.isRetryable = isRetryable
        self.retryAfter = retryAfter
    }

    private static func kind(of error: ClientError) -> String {
        switch error {
        case .noAgent: "no_agent"
        case .closed: "closed"
        case .timedOut: ErrorKind.timeout.rawValue
        case .tooLong, .tooManyEvents: ErrorKind.tooLarge.rawValue
        case .otherUser: ErrorKind.denied.rawValue
        case .badReply: ErrorKind.badReply.rawValue
        case .cancelled, .system: ErrorKind.internal_.rawValue
        case .agent(let error): (error.kind ?? .internal_).rawValue
        }
    }

    private static func facts(of error: ClientError, kind: String) -> (Bool, Duration?, JSON) {
        if case .agent(let error) = error { return (error.retryable, error.retryAfter, error.json) }
        let isRetryable =
            switch error {
            case .noAgent, .closed, .timedOut: true
            default: false
            }
        let data: JSONObject = ["kind": .string(kind), "retryable": .bool(isRetryable)]
        return (
            isRetryable, nil,
            [
                "code": .integer(Int64(AgentError.agentCode)), "message": .string("\(error)"), "data": .object(data),
            ]
        )
    }
}

/// A string of the C library's heap, freed with its last reference.
///
/// Sendable, because nothing writes to the memory after `init`.
@safe final class CString: @unchecked Sendable {
    let pointer: UnsafeMutablePointer<CChar>

    /// A zero byte inside ends the text for C.
    init(_ text: String) {
        unsafe pointer = strdup(text)
    }

    deinit {
        unsafe free(pointer)
    }

    /// A copy for the caller, who frees it.
    /// - Throws: `badReply` if a zero byte would cut it off.
    static func copy(_ text: String) throws(ClientError) -> UnsafeMutablePointer<CChar> {
        guard !text.utf8.contains(0) else { throw .badReply("it has a zero byte") }
        guard let copy = unsafe strdup(text) else { throw .system("out of memory") }
        return unsafe copy
    }
}

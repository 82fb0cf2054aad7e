import NIOCore

/// One request for a backend's handler, with its whole body. Its path is relative to the base URL.
struct Call: Sendable {
    var method: String
    var path: String
    /// The values for `{name}` in the route.
    var parameters: [String: String] = [:]
    var query: [String: String]
    /// Lower-case names, in the order received.
    var headers: [(name: String, value: String)]
    var body: [UInt8]
    /// The address of the client.
    var client: String?

    func header(_ name: String) -> String? {
        headers.first { $0.name == name }?.value
    }

    /// The token of `Authorization: Bearer …` (RFC 6750 §2.1), which must occur exactly once.
    /// - Parameter kind: the scheme in lower case (RFC 9449 §7.1).
    func bearer(kind: String = "bearer") throws(Refusal) -> String {
        let fields = headers.filter { $0.name == "authorization" }
        guard let field = fields.first else { throw .unauthorized("Authorization header is missing") }
        guard fields.count == 1 else { throw .badRequest("Authorization came \(fields.count) times") }
        let parts = field.value.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == kind, !parts[1].isEmpty else {
            throw .unauthorized("Authorization is not a \(kind) token")
        }
        return String(parts[1])
    }

    /// The JSON object of the body, with the right `Content-Type`. It must have all `required` keys and no others but
    /// `optional`: a key in another style is an error, not an absence.
    func fields(_ required: Set<String>, optional: Set<String> = []) throws(Refusal) -> Fields {
        let type = header("content-type")?.split(separator: ";").first?.lowercased() ?? ""
        guard type == "application/json" else {
            throw Refusal(
                status: 415, message: "Content-Type must be application/json", code: "UNSUPPORTED_MEDIA_TYPE")
        }
        guard let value = try? JSONValue(parsing: body), case .object(let members) = value else {
            throw .badRequest("Body is not a JSON object")
        }
        return try Fields(members, required: required, optional: optional)
    }

    func refuseQuery(but known: Set<String> = []) throws(Refusal) {
        guard let unknown = Set(query.keys).subtracting(known).min() else { return }
        throw .badRequest("\(unknown) is not known")
    }

    func refuseBody() throws(Refusal) {
        guard body.isEmpty else { throw .badRequest("\(method) \(path) takes no body") }
    }
}

/// The members of a body, with the expected keys.
struct Fields: Sendable {
    let members: [String: JSONValue]

    init(_ members: [String: JSONValue], required: Set<String>, optional: Set<String>) throws(Refusal) {
        let present = Set(members.filter { $0.value != .null }.keys)
        let missing = required.subtracting(present).sorted().map { "\($0) is required" }
        let unknown = present.subtracting(required).subtracting(optional).sorted().map { "\($0) is not known" }
        guard missing.isEmpty, unknown.isEmpty else {
            throw .badRequest("Validation failed", details: missing + unknown)
        }
        self.members = members
    }

    func text(_ key: String) throws(Refusal) -> String {
        guard let text = members[key]?.string else { throw .badRequest("\(key) must be a string") }
        return text
    }

    func optionalText(_ key: String) throws(Refusal) -> String? {
        guard let value = members[key], value != .null else { return nil }
        guard let text = value.string else { throw .badRequest("\(key) must be a string") }
        return text
    }

    func object(_ key: String, _ required: Set<String>, optional: Set<String> = []) throws(Refusal) -> Fields {
        guard case .object(let inner)? = members[key] else { throw .badRequest("\(key) must be an object") }
        return try Fields(inner, required: required, optional: optional)
    }
}

struct Answer: Sendable {
    var status: Int
    var headers: [(name: String, value: String)]
    var body: [UInt8]
    /// The rest after `body`, if the body is too long for one piece.
    var long: [ByteBuffer] = []

    var size: Int { long.reduce(body.count) { $0 + $1.readableBytes } }

    init(status: Int = 200, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    static func json(_ value: JSONValue, status: Int = 200) -> Answer {
        Answer(status: status, headers: [("content-type", "application/json")], body: value.bytes())
    }

    static func text(_ text: String, status: Int = 200) -> Answer {
        Answer(status: status, headers: [("content-type", "text/plain; charset=utf-8")], body: Array(text.utf8))
    }

    static let empty = Answer(status: 204)
}

import AuthMachines
import AuthModel
import AuthWire

/// A request and its result, as the audit log records them.
struct AnsweredRequest: Hashable, Sendable {
    enum Token: Hashable, Sendable {
        /// ``LiveToken/number``
        case number(UInt64)
        /// ``TokenHasher/hash(of:)``
        case hash(String)
    }

    let request: AuditedRequest
    let caller: CallerIdentity
    var rule: String
    var enforced: Bool?
    var error: ErrorKind?
    var isCancelled = false
    var token: Token?

    /// The token of a request for a session's token without anything else that the log records.
    var plainToken: UInt64? {
        guard case .number(let number) = token, let session = request.session, error == nil else { return nil }
        return request == AuditedRequest(method: TokenGet.name, session: session) ? number : nil
    }

    /// Differs for other requests and results, except by a chance of 1 in 2⁶⁴: Swift's hash has a random key in each process.
    var digest: Int {
        var hasher = Hasher()
        hasher.combine(self)
        return hasher.finalize()
    }
}

/// The entry that counts a connection's requests like one that was answered. It has none of the client's texts, because there
/// may be many connections.
struct RepeatedEntry: Sendable {
    /// Then a new entry begins, so that the log says when requests were made.
    static let longest = Duration.seconds(60)

    /// ``AnsweredRequest/digest``
    let digest: Int
    let plainToken: UInt64?
    let place: AuditRing.Place
    let began: BootInstant
    /// The generation of settings and rules.
    let generation: Int

    init(_ answered: AnsweredRequest, at place: AuditRing.Place, began: BootInstant, generation: Int) {
        digest = answered.digest
        plainToken = answered.plainToken
        self.place = place
        self.began = began
        self.generation = generation
    }

    func covers(_ now: BootInstant, generation: Int) -> Bool {
        self.generation == generation && now - began < Self.longest
    }
}

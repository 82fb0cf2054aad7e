package import AuthModel

/// A cached response to a GET, with its age (RFC 9111 §4.2).
package struct CachedResponse: Sendable {
    package private(set) var reply: HTTPResponse
    /// The request's fields that the response depends on (`Vary`), names in lower case, missing ones empty.
    let depends: [String: String]
    /// When it was received; its age grows from here, including time asleep.
    private var receivedAt: BootInstant
    private var ageThen: Duration
    private var lifetime: Duration
    private var control: CacheControl

    /// - Parameters:
    ///   - freshFor: from the profile; precedes the response's own lifetime.
    ///   - sentAt: when its request was sent: the duration of the exchange counts as age.
    /// - Returns: `nil` for a response that must not be cached.
    package init?(
        _ reply: HTTPResponse, to request: HTTPRequest, freshFor: Duration?, sentAt: Moment, receivedAt: Moment
    ) {
        control = CacheControl(reply)
        guard reply.status == 200, !control.noStore, freshFor != .zero, let names = Self.varyNames(reply) else {
            return nil
        }
        self.reply = reply
        depends = Self.values(of: names, in: request)
        self.receivedAt = receivedAt.boot
        (ageThen, lifetime) = Self.times(reply, freshFor, control, sentAt: sentAt, receivedAt: receivedAt)
    }

    /// §4.2.3. `Date` is not used: it depends on the provider's clock.
    package func age(at now: BootInstant) -> Duration { max(.zero, ageThen + (now - receivedAt)) }

    package func isFresh(at now: BootInstant) -> Bool { age(at: now) < lifetime }

    /// Whether it may be used while the provider is unreachable (§4.2.4).
    package var mayBeStale: Bool { !control.mustRevalidate && !control.noCache }

    func answers(_ request: HTTPRequest) -> Bool {
        depends == Self.values(of: Array(depends.keys), in: request)
    }

    /// The conditions that ask whether it is still valid (RFC 9110 §13.1); empty if the response has no validators.
    package var validators: [HTTPField] {
        var fields: [HTTPField] = []
        if let tag = reply.header("ETag") { fields.append(HTTPField("If-None-Match", tag)) }
        if let date = reply.header("Last-Modified") { fields.append(HTTPField("If-Modified-Since", date)) }
        return fields
    }

    /// The provider confirmed it: the fields of the confirmation replace its own (RFC 9111 §3.2, §4.3.4).
    package mutating func confirmed(by answer: HTTPResponse, freshFor: Duration?, sentAt: Moment, receivedAt: Moment) {
        let updated = Set(answer.headers.map { $0.name.lowercased() }).subtracting(["content-length"])
        reply = HTTPResponse(
            status: reply.status,
            headers: reply.headers.filter { !updated.contains($0.name.lowercased()) }
                + answer.headers.filter { updated.contains($0.name.lowercased()) }, body: reply.body)
        control = CacheControl(reply)
        self.receivedAt = receivedAt.boot
        (ageThen, lifetime) = Self.times(reply, freshFor, control, sentAt: sentAt, receivedAt: receivedAt)
    }

    /// Approximate bytes in memory. A body that was received in parts may have more room than it needs.
    var cost: Int {
        reply.headers.reduce(reply.body.capacity + Self.overhead) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    }

    /// The bytes of an entry besides its response: its key, its place in the chain, the arrays, and what the heap loses between
    /// blocks. Measured as anonymous memory of the agent with thousands of responses of 1 to 4 KiB.
    private static let overhead = 1792

    private static func times(
        _ reply: HTTPResponse, _ freshFor: Duration?, _ control: CacheControl, sentAt: Moment, receivedAt: Moment
    ) -> (age: Duration, lifetime: Duration) {
        let age = (reply.header("Age").flatMap(CacheControl.seconds) ?? .zero) + (receivedAt.boot - sentAt.boot)
        if let freshFor { return (age, freshFor) }
        if control.noCache { return (age, .zero) }
        if let maxAge = control.maxAge { return (age, maxAge) }
        return (age, expires(reply, now: receivedAt.wall))
    }

    /// The difference of the response's two dates (§5.3); without both there is no lifetime.
    private static func expires(_ reply: HTTPResponse, now: WallTime) -> Duration {
        guard let end = reply.header("Expires").flatMap({ HTTPDate.parse($0, now: now) }),
            let date = reply.header("Date").flatMap({ HTTPDate.parse($0, now: now) })
        else { return .zero }
        return max(.zero, end - date)
    }

    /// `nil` for `*`, which no later request can match (§4.1). The token belongs to the session, which is in the key.
    private static func varyNames(_ reply: HTTPResponse) -> [String]? {
        let names = reply.headers.filter { $0.name.lowercased() == "vary" }
            .flatMap { $0.value.utf8.split(separator: UInt8(ascii: ",")) }
            .map { Substring($0).lowercased().filter { $0 != " " && $0 != "\t" } }
        return names.contains("*") ? nil : names.filter { $0 != "authorization" && !$0.isEmpty }
    }

    private static func values(of names: [String], in request: HTTPRequest) -> [String: String] {
        Dictionary(
            names.map { name in
                let values = request.headers.filter { $0.name.lowercased() == name }.map { $0.value.reveal() }
                return (name, values.joined(separator: ", "))
            }
        ) { first, _ in first }
    }
}

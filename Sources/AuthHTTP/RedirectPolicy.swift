import AuthModel
import FoundationEssentials

/// Where an answer sends a request next, if we go there.
enum RedirectPolicy {
    /// - Returns: the next address, or nil when the answer is to be handed over as it is: no redirect, or one of a
    ///   request other than `GET` and `HEAD`, which nobody asked to have repeated elsewhere.
    /// - Throws: `.redirected` when the next address is of another origin, whatever the method: a request may carry
    ///   credentials in any part of it.
    static func next(
        after reply: (status: UInt, location: String?), method: String, at url: URL, origin: Origin
    ) throws(TransportError) -> URL? {
        guard [301, 302, 303, 307, 308].contains(reply.status), let location = reply.location else { return nil }
        guard let next = URL(string: location, relativeTo: url)?.absoluteURL else { return nil }
        let target = try Origin(sending: next.absoluteString)
        guard target == origin else { throw .redirected(toOrigin: target.text) }
        return method == "GET" || method == "HEAD" ? next : nil
    }
}

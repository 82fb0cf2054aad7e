import AuthModel
import FoundationEssentials

/// Decides whether to follow a redirect.
enum RedirectPolicy {
    /// - Returns: the next address, or `nil` to return the response itself: it is not a redirect, or the method is not `GET` or
    ///   `HEAD`, so the request must not be repeated.
    /// - Throws: `.redirected` if the next address has another origin, for any method: every part of a request may have
    ///   credentials.
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

import AuthModel
package import AuthWire

/// Where an address of a scheme of our own is put for the sign-in that waits for it.
struct SchemeRedirectListener: RedirectListener {
    let redirectURI: String
    let visits: AsyncStream<RedirectVisit>
    private let arrivals: AsyncStream<RedirectVisit>.Continuation

    init(_ redirect: SchemeRedirect) {
        redirectURI = redirect.uri
        (visits, arrivals) = AsyncStream<RedirectVisit>.makeStream()
    }

    func close() { arrivals.finish() }

    /// What a person reads of its end stands where they began.
    func put(_ query: String) { arrivals.yield(RedirectVisit(query: query) { _ in }) }
}

extension SignInService {
    /// An address is no longer that a provider has made: a code, a state and a few words more.
    private static let longestAddress = 16 << 10

    /// Hands an address to the sign-in that it ends. It is taken once: whoever brings it again finds nobody.
    ///
    /// Any page in any browser can have the desktop call us by an address of its own making: without the state of a
    /// sign-in that waits, nothing comes of it.
    package func redirect(_ params: LoginRedirect) throws(AgentError) {
        guard params.address.utf8.count <= Self.longestAddress else {
            throw AgentError(
                .tooLarge, "No address that ends a sign-in is longer than \(Self.longestAddress >> 10) KiB.")
        }
        let parts = params.address.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let query = parts.count == 2 ? String(parts[1].prefix { $0 != "#" }) : ""
        let found = schemeListeners.first { _, waiting in
            parts[0].utf8.elementsEqual(waiting.mailbox.redirectURI.utf8) && waiting.attempt.read(query) != .unrelated
        }
        guard let (id, waiting) = found else {
            throw AgentError(.notFound, "This address does not belong to a sign-in in progress.")
        }
        schemeListeners[id] = nil
        waiting.mailbox.put(query)
    }
}

package import AuthWire

/// Takes the person's browser back from an authorization server (RFC 8252 §7.3), on this machine alone.
package protocol RedirectListening: Sendable {
    /// - Parameter identity: by what the page is known, where it is reached by TLS.
    /// - Throws: `conflict` where the profile's own port is somebody else's.
    func listen(
        at redirect: LoopbackRedirect, as identity: TLSIdentity?
    ) async throws(AgentError) -> any RedirectListener

    /// A person's own certificate and key, as they are at this moment.
    func read(_ files: TLSIdentityFiles) throws(TLSIdentityError) -> (certificates: String, key: Secret)
}

/// Where one sign-in's person comes back to.
package protocol RedirectListener: Sendable {
    /// As the provider gets it.
    var redirectURI: String { get }

    /// Visits to the redirect's path, until it is closed or the waiting task is cancelled.
    var visits: AsyncStream<RedirectVisit> { get }

    /// Takes no more; a visit that waits for its page still gets it.
    func close()
}

/// A browser that was sent to us, and waits for a page.
package struct RedirectVisit: Sendable {
    /// As it came, without `?`.
    package let query: String
    private let show: @Sendable (RedirectPage) -> Void

    package init(query: String, show: @escaping @Sendable (RedirectPage) -> Void) {
        self.query = query
        self.show = show
    }

    package func show(_ page: RedirectPage) { show(page) }
}

/// What a person reads at the end: no script, nothing from elsewhere, no code in it.
package struct RedirectPage: Sendable, Equatable {
    package let isSuccess: Bool
    package let title: String
    package let text: String

    package static func done(_ provider: String) -> RedirectPage {
        RedirectPage(isSuccess: true, title: "Signed in to \(provider)", text: "You can close this window.")
    }

    package static func failed(_ reason: String) -> RedirectPage {
        RedirectPage(
            isSuccess: false, title: "Not signed in", text: "\(reason) You can close this window and try again.")
    }

    package static let unrelated = RedirectPage(
        isSuccess: false, title: "Not from this sign-in",
        text: "This address belongs to no sign-in that is under way here. You can close this window.")
}

package import AuthWire

/// Receives the user's browser from an authorization server (RFC 8252 §7.3), on this machine only.
package protocol RedirectListening: Sendable {
    /// - Parameter identity: the page's certificate, if it uses TLS.
    /// - Throws: `conflict` if another program uses the profile's port.
    func listen(
        at redirect: LoopbackRedirect, as identity: TLSIdentity?
    ) async throws(AgentError) -> any RedirectListener

    /// Reads the user's certificate and key. The files may be on a slow disk, so a thread that may block reads them.
    func read(_ files: TLSIdentityFiles) async throws(TLSIdentityError) -> (certificates: String, key: Secret)
}

/// The redirect address of one sign-in.
package protocol RedirectListener: Sendable {
    /// The address that the provider receives.
    var redirectURI: String { get }

    /// Visits to the redirect's path, until it is closed or the waiting task is cancelled.
    var visits: AsyncStream<RedirectVisit> { get }

    /// Accepts no more visits; a visit that waits for its page still gets it.
    func close()
}

/// A browser that was redirected to us and waits for a page.
package struct RedirectVisit: Sendable {
    /// Unchanged, without `?`.
    package let query: String
    private let show: @Sendable (RedirectPage) -> Void

    package init(query: String, show: @escaping @Sendable (RedirectPage) -> Void) {
        self.query = query
        self.show = show
    }

    package func show(_ page: RedirectPage) { show(page) }
}

/// The page at the end of a sign-in: no script, no external resources, no code.
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

    package static let lent = RedirectPage(
        isSuccess: true, title: "Continue on the other machine",
        text: "The sign-in is completed there. You can close this window.")

    package static let unrelated = RedirectPage(
        isSuccess: false, title: "Not from this sign-in",
        text: "This address does not belong to a sign-in in progress. You can close this window.")
}

extension AgentError {
    /// The cause if the port that a browser is to come back to is in use.
    package static let redirectPort = "redirect_port"
}

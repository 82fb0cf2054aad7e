import AuthWire

extension ProviderFailure {
    /// A failed exchange says nothing about the session: it is always temporary.
    package init(_ error: TransportError) {
        self = .temporary(Self.agentError(error), retryAfter: nil)
    }

    private static func agentError(_ error: TransportError) -> AgentError {
        switch error {
        case .offline(let reason): AgentError(.offline, "The machine is offline: \(reason).", cause: "offline")
        case .nameNotResolved(let host):
            unreachable(
                "The name \(host) could not be resolved; check the network and the address.", "name_not_resolved")
        case .connectionRefused(let host):
            unreachable(
                "\(host) refuses connections. Check the address; the server may be down.", "connection_refused")
        case .timedOut(let host, let limit):
            AgentError(
                .timeout, "\(host) did not respond within \(Int(limit.seconds.rounded(.up))) s.", cause: "timed_out")
        case .portal: .captivePortal
        case .certificate(let host, let reason):
            unreachable(
                "No secure connection to \(host): \(reason). Check the clock and the trusted CAs.", "certificate")
        case .tls(let host, let reason):
            unreachable("No secure connection to \(host): \(reason).", "tls")
        case .connectionLost(let host, let reason):
            unreachable("The connection to \(host) was lost: \(reason).", "connection_lost")
        case .proxy(let reason): unreachable("The proxy failed: \(reason). Check the proxy setting.", "proxy")
        case .tooLarge(let limit):
            AgentError(.badReply, "The provider's response is larger than \(limit >> 20) MiB.", cause: "too_large")
        case .redirected(let origin):
            AgentError(
                .badReply, "The provider redirects to \(origin). authd sends no credentials there.", cause: "redirected"
            )
        case .badURL(let reason):
            AgentError(
                .providerUnreachable, "The provider's address cannot be used: \(reason).", cause: "bad_url",
                retryable: false)
        case .cancelled: AgentError(.timeout, "The request to the provider was cancelled.", cause: "cancelled")
        }
    }

    private static func unreachable(_ message: String, _ cause: String) -> AgentError {
        AgentError(.providerUnreachable, message, cause: cause)
    }
}

internal import AuthMachines
package import AuthModel
internal import AuthWire

/// A transport whose requests wait for the network's clearance, and whose results update the state of the network.
///
/// Every call that carries credentials goes through here, so that nothing is sent into a portal.
package struct GuardedTransport: HTTPTransport {
    private let transport: any HTTPTransport
    private let network: NetworkMonitor

    package init(_ transport: any HTTPTransport, network: NetworkMonitor) {
        self.transport = transport
        self.network = network
    }

    package func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        guard let origin = Origin(of: request.url) else { return try await transport.send(request) }
        let round: Int
        switch try await network.clearance(for: origin) {
        case .go(let number): round = number
        case .blocked(.portal): throw .portal
        case .blocked: throw .offline(reason: "no link leads out of it")
        }
        do throws(TransportError) {
            let sent = network.clock.now()
            var reply = try await transport.send(request)
            let word = Reachability(reply, from: origin)
            await network.callEnded(word, at: origin, round: round)
            if word.isReached { reply.skew = await network.skew(of: reply, from: origin, sent: sent) }
            return reply
        } catch {
            var word = Reachability(error)
            // The certificate shows that the provider has sent it.
            if case .redirected = error, origin.isSecure { word = .reached(isProven: true) }
            if let word { await network.callEnded(word, at: origin, round: round) }
            throw error
        }
    }

    package func closeIdleConnections() async {
        await transport.closeIdleConnections()
    }

    package func closeIdleConnections(to origins: Set<Origin>) async {
        await transport.closeIdleConnections(to: origins)
    }

    package func closeAllConnections() async {
        await transport.closeAllConnections()
    }
}

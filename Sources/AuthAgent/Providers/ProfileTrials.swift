package import AuthModel
package import AuthWire

/// Sends the requests of a profile without credentials.
package struct ProfileTrials: Sendable {
    /// For one request.
    private static let timeout = Duration.seconds(10)
    /// For one profile: the first ones say most.
    private static let maxRequests = 32

    private let context: AgentContext

    package init(context: AgentContext) {
        self.context = context
    }

    /// Sends them one after the other. Without a response, the others are not sent: they go to the same server.
    package func run(_ trials: [ProfileTrial]) async -> [TriedRequest] {
        var tried: [TriedRequest] = []
        var sent = 0
        for trial in trials {
            if let reason = trial.skipped {
                tried.append(trial.notTried(reason))
                continue
            }
            guard sent < Self.maxRequests else {
                tried.append(trial.notTried("only \(Self.maxRequests) requests are sent"))
                continue
            }
            sent += 1
            var request = trial.request
            request.limit = Self.timeout
            request.followsRedirects = false
            do throws(TransportError) {
                tried.append(trial.finding(in: try await context.transport.send(request)))
            } catch {
                tried.append(trial.tried(ProviderFailure(error).error.message, isExpected: false))
                break
            }
        }
        return tried
    }
}

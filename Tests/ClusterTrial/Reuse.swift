package import StandInBackends

/// A refresh token that was sent after another one had replaced it.
package struct Reuse: Sendable {
    package enum Verdict: Sendable, Equatable {
        /// The token that replaced it may have been lost because of this fault.
        case excused(FaultPlan.Kind)
        /// Why it must not be.
        case fault(String)
    }

    package let request: OAuthRenewal
    /// `false`: the provider has accepted it, in its grace period.
    package let endedSession: Bool
    package let verdict: Verdict

    package init(request: OAuthRenewal, endedSession: Bool, verdict: Verdict) {
        self.request = request
        self.endedSession = endedSession
        self.verdict = verdict
    }

    /// Judges every such request in a log.
    /// - Parameters:
    ///   - from: the number of requests that were judged before.
    ///   - servedElsewhere: when a client of a host other than this one first got that access token, if one did.
    package static func all(
        in log: [OAuthRenewal], from start: Int, interruptions: [Interruption],
        servedElsewhere: (_ accessToken: String, _ host: String?) -> ContinuousClock.Instant?
    ) -> [Reuse] {
        log.indices.dropFirst(start).compactMap { index in
            let request = log[index]
            switch request.outcome {
            case .renewed(_, isRepeated: false), .refused(.ended): return nil
            case .refused(.unknown):
                return Reuse(request: request, endedSession: false, verdict: .fault("the provider never issued it"))
            case .renewed(_, isRepeated: true), .refused(.reused): break
            }
            let commit = log[..<index].last { $0.sent == request.sent && $0.accessToken != nil }
            return Reuse(
                request: request, endedSession: request.outcome == .refused(.reused),
                verdict: verdict(on: request, after: commit, interruptions, servedElsewhere))
        }
    }

    private static func verdict(
        on request: OAuthRenewal, after commit: OAuthRenewal?, _ interruptions: [Interruption],
        _ servedElsewhere: (String, String?) -> ContinuousClock.Instant?
    ) -> Verdict {
        guard let commit, let newer = commit.accessToken else { return .fault("the provider never replaced it") }
        let time = "\((request.at - commit.at).inWords) after its use by \(commit.client ?? "somebody")"
        let sender = request.client ?? "somebody"
        if let served = servedElsewhere(newer, commit.client), served < request.at {
            return .fault("\(sender) sent it \(time), and another host had the token that replaced it")
        }
        let excuse = interruptions.last {
            $0.mayLose(whatWasGivenTo: commit.client, at: commit.at, until: request.at)
        }
        guard let excuse else { return .fault("\(sender) sent it \(time), and nothing had interrupted that host") }
        return .excused(excuse.kind)
    }
}

extension OAuthRenewal {
    /// What it brought.
    var accessToken: String? {
        if case .renewed(let token, _) = outcome { token } else { nil }
    }
}

import AuthWire
import Foundation
import TestSupport
import Testing

/// Calls of the provider's API on a laptop without a network cable.
@Suite("Calls without a network", .serialized, .timeLimit(.minutes(2)))
struct CallsWhileOfflineTests {
    @Test("one fails at once, one waits for the network, one is queued; the last two arrive when the cable is back")
    func cableOut() async throws {
        try await NetworkLab.play { lab, _ in
            let watch = try await lab.watch()
            try await lab.onGateway("ip link set far down")
            #expect(await watch.out.wait(for: #""network":{"state":"offline""#))
            let failed = try await lab.authc("request", "GET", "/me", "--no-wait-for-network")
            #expect(failed.status == 75 && failed.err.contains("offline"), "\(failed.err)")
            let kept = try await lab.authc("request", "POST", "/notes", "--queue", "-d", #"{"text":"later"}"#)
            #expect(kept.status == 0 && kept.err.contains("queued as"), "\(kept.err)")
            let late = try await lab.authc("request", "GET", "/me", "--timeout", "300ms")
            #expect(late.status == 75, "\(late.err)")
            // The profile says so.
            async let waiting = lab.authc("request", "GET", "/me")
            // Both wait: the provider got nothing, and the agent answers others meanwhile.
            #expect(try await lab.network().state == .offline)
            #expect(!lab.provider.out.text.contains("/notes"))
            try await lab.onGateway("ip link set far up")
            let answered = try await waiting
            #expect(answered.status == 0 && answered.out.contains("\"7\""), "\(answered.err)")
            #expect(await watch.out.wait(for: #""event":"sent""#))
            #expect(lab.provider.out.text.contains("POST /notes 200 full"), "\(lab.provider.out.text)")
            #expect(try await lab.authc("outbox").err.contains("The queue is empty"))
            await watch.end()
        }
    }
}

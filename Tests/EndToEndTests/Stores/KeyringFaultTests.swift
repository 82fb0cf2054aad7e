import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// The real agent with a keyring that misbehaves when a session is renewed.
@Suite("While a keyring misbehaves", .serialized, .timeLimit(.minutes(2)))
struct KeyringFaultTests {
    private struct FaultCase {
        let behaviour: KeyringServices.Behaviour
        /// What `agent.info` says of the store.
        let state: JSON
        /// What `authc doctor` says.
        let words: String
    }

    private static let faultCases = [
        FaultCase(behaviour: .silentWrites, state: "waiting", words: "secret-service is asking you something"),
        FaultCase(behaviour: .deaf, state: "locked", words: "secret-service is locked"),
        FaultCase(behaviour: .failing, state: "failed", words: "secret-service failed"),
        FaultCase(behaviour: .dying, state: "missing", words: "there is no secret-service"),
    ]

    /// Each with a separate agent, and at the same time: the one that never answers costs the agent's limit of 5 s.
    @Test("tokens are renewed and served, the problem is reported, and unsaved tokens are written later")
    func servesOn() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for faultCase in Self.faultCases { group.addTask { try await Self.play(faultCase) } }
            try await group.waitForAll()
        }
    }

    private static func play(_ faultCase: FaultCase) async throws {
        let behaviour = faultCase.behaviour
        try await Scene.play(keyring: false) { scene in
            var keyring = try await scene.desktop.startFaultyKeyring()
            try await scene.restart()
            #expect(try await scene.login(.appTemplate).status == 0)
            let token = try await scene.agent.authc("token").out
            try await scene.desktop.becomes(behaviour)
            let refresh = try await scene.agent.authc("refresh")
            #expect(refresh.status == 0, "\(behaviour): \(refresh.err)")
            let renewed = try await scene.agent.authc("token")
            #expect(renewed.status == 0 && renewed.out != token, "\(behaviour): \(renewed.err)")
            #expect(try await scene.agent.status("app-template").unsaved, "\(behaviour)")
            let info = try await scene.ask("agent.info", [:])
            #expect(info["store"]?["state"] == faultCase.state, "\(behaviour): \(info.text())")
            let doctor = try await scene.agent.authc("doctor")
            #expect(doctor.status == 4 && doctor.out.contains(faultCase.words), "\(behaviour): \(doctor.out)")
            #expect(doctor.out.contains("in memory only"), "\(behaviour): \(doctor.out)")

            if behaviour == .dying {
                keyring = try await scene.desktop.startFaultyKeyring()
            } else {
                try await scene.desktop.becomes(behaviour == .silentWrites ? .agreeing : .well)
            }
            // Each try is a round trip; one that failed is tried again after some seconds.
            #expect(try await until { try await !scene.agent.status("app-template").unsaved }, "\(behaviour)")
            try await scene.agent.child.end(SIGKILL)
            try await scene.startAgent()
            let kept = try await scene.agent.authc("token")
            #expect(kept.out == renewed.out, "\(behaviour): \(kept.err)")
            #expect(scene.signIns == 1)
            await keyring.end()
        }
    }
}

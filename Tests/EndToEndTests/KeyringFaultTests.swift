import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// The real agent with a keyring that misbehaves when a session is renewed.
@Suite("While a keyring misbehaves", .serialized, .timeLimit(.minutes(2)))
struct KeyringFaultTests {
    private struct Trouble {
        let mood: KeyringServices.Behaviour
        /// What `agent.info` says of the store.
        let state: JSON
        /// What `authc doctor` says.
        let words: String
    }

    private static let troubles = [
        Trouble(mood: .silentWrites, state: "waiting", words: "secret-service is asking you something"),
        Trouble(mood: .deaf, state: "locked", words: "secret-service is locked"),
        Trouble(mood: .failing, state: "failed", words: "secret-service failed"),
        Trouble(mood: .dying, state: "missing", words: "there is no secret-service"),
    ]

    /// Each with an agent of its own, and at the same time: the one that never answers costs the agent's limit of 5 s.
    @Test("tokens are renewed and served, the problem is reported, and unsaved tokens are written later")
    func servesOn() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for trouble in Self.troubles { group.addTask { try await Self.play(trouble) } }
            try await group.waitForAll()
        }
    }

    private static func play(_ trouble: Trouble) async throws {
        let mood = trouble.mood
        try await Scene.play(keyring: false) { scene in
            var keyring = try await scene.desktop.startFaultyKeyring()
            try await scene.restart()
            #expect(try await scene.login(.appTemplate).status == 0)
            let token = try await scene.agent.authc("token").out
            try await scene.desktop.becomes(mood)
            let refresh = try await scene.agent.authc("refresh")
            #expect(refresh.status == 0, "\(mood): \(refresh.err)")
            let renewed = try await scene.agent.authc("token")
            #expect(renewed.status == 0 && renewed.out != token, "\(mood): \(renewed.err)")
            #expect(try await scene.agent.status("app-template").unsaved, "\(mood)")
            let info = try await scene.ask("agent.info", [:])
            #expect(info["store"]?["state"] == trouble.state, "\(mood): \(info.text())")
            let doctor = try await scene.agent.authc("doctor")
            #expect(doctor.status == 4 && doctor.out.contains(trouble.words), "\(mood): \(doctor.out)")
            #expect(doctor.out.contains("in memory only"), "\(mood): \(doctor.out)")

            if mood == .dying {
                keyring = try await scene.desktop.startFaultyKeyring()
            } else {
                try await scene.desktop.becomes(mood == .silentWrites ? .agreeing : .well)
            }
            // Each try is a round trip; one that failed is tried again after some seconds.
            #expect(try await until(4000) { try await !scene.agent.status("app-template").unsaved }, "\(mood)")
            try await scene.agent.child.end(SIGKILL)
            try await scene.startAgent()
            #expect(try await scene.agent.authc("token").out == renewed.out, "\(mood)")
            #expect(scene.signIns == 1)
            await keyring.end()
        }
    }
}

import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// A locked keyring from the user's view: after a boot without a password, or with a locked screen.
@Suite("A locked keyring", .serialized)
struct LockedKeyringTests {
    @Test("at start its sessions are there, as locked, and go on by themselves once it is unlocked")
    func lockedAtStart() async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.appTemplate)
            let token = try await scene.agent.authc("token").out
            try await scene.agent.child.end()
            try await scene.desktop.lockKeyring()
            try await scene.startAgent()

            let status = try await scene.agent.authc("status", "-s", "app-template", "--json")
            #expect(status.status == 4)
            #expect(try JSON(parsing: Array(status.out.utf8))["state"] == "keyring_locked", "\(status.out)")
            #expect(
                try await until { try await scene.agent.authc("prompt").out == "app-template!keyring_locked\n" })
            let refused = try await scene.agent.authc("token", "-s", "app-template")
            #expect(refused.status == 4, "\(refused.err)")
            let doctor = try await scene.agent.authc("doctor")
            #expect(doctor.status == 4 && doctor.out.contains("secret-service is locked"), "\(doctor.out)")

            let unlocked = try await scene.desktop.unlockKeyring()
            let waited = try await scene.agent.authc("wait", "-s", "app-template", "--timeout", "30s")
            #expect(waited.status == 0, "\(waited.err)")
            #expect(try await scene.agent.authc("token").out == token)
            #expect(scene.signIns == 1)
            await unlocked.end()
        }
    }

    @Test(
        "a session that is signed out while it is locked stays signed out, although the agent is killed before it removes the item"
    )
    func signOutWhileLocked() async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.appTemplate)
            try await scene.desktop.lockKeyring()
            let out = try await scene.agent.authc("logout")
            #expect(out.status == 4 && out.err.contains("You are signed out, but"), "\(out.err)")
            #expect(try await scene.agent.authc("token").status == 3)
            try await scene.agent.child.end(SIGKILL)
            try await scene.startAgent()
            #expect(try await scene.agent.authc("token", "-s", "app-template").status != 0)
            #expect(try await scene.agent.authc("prompt").out.isEmpty)

            let unlocked = try await scene.desktop.unlockKeyring()
            // The store is read when it opens; each question is a round trip.
            #expect(try await until { try await scene.desktop.keyringItems().isEmpty })
            #expect(try await scene.agent.json("list") == ["sessions": []])
            #expect(try await scene.login(.appTemplate).status == 0)
            try await scene.agent.child.end(SIGKILL)
            try await scene.startAgent()
            #expect(try await scene.agent.authc("token").status == 0)
            await unlocked.end()
        }
    }

    @Test("at sign-in the user is asked to unlock it; after a refusal it is reported as locked")
    func dismissedAtSignIn() async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.appTemplate)
            try await scene.agent.child.end()
            try await scene.desktop.lockKeyring()
            try await scene.startAgent()
            for _ in 1...2 {
                let refused = try await scene.login(.envelope)
                #expect(refused.status == 4, "\(refused.err)")
                #expect(refused.err.contains("unlock it"), "\(refused.err)")
            }
            #expect(scene.signIns == 1)
            let unlocked = try await scene.desktop.unlockKeyring()
            #expect(try await scene.agent.authc("wait", "-s", "app-template", "--timeout", "30s").status == 0)
            #expect(try await scene.login(.envelope).status == 0)
            await unlocked.end()
        }
    }
}

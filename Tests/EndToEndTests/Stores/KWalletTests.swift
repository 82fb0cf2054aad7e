import AuthWire
import StandInBackends
import TestSupport
import Testing

/// The main job where the keyring is KDE's.
@Suite("With KWallet", .serialized, .timeLimit(.minutes(2)))
struct KWalletTests {
    @Test("a user signs in, is renewed, served after a restart and while it is locked, and signs out")
    func mainJob() async throws {
        try await Scene.play(keyring: false) { scene in
            let wallet = try await scene.desktop.startKWallet()
            try await scene.restart()
            #expect(try await scene.login(.appTemplate).status == 0)
            let token = try await scene.agent.authc("token").out
            #expect(try await scene.agent.authc("refresh").status == 0)
            try await scene.restart()
            #expect(try await scene.agent.authc("wait", "--timeout", "30s").status == 0)
            let renewed = try await scene.agent.authc("token").out
            #expect(renewed != token)
            let label = "label = authd: ada@example.org at App template (app-template)"
            #expect(try await scene.desktop.keyringItems() == [label])

            // From its first renewal on, a run goes on renewing while the wallet is locked.
            #expect(try await scene.agent.authc("refresh").status == 0)
            try await scene.desktop.lockKeyring("kdewallet")
            #expect(try await scene.agent.authc("refresh").status == 0)
            let unsaved = try await scene.agent.authc("token").out
            #expect(unsaved != renewed)
            #expect(try await scene.agent.status("app-template").unsaved)
            #expect(try await scene.ask("agent.info", [:])["store"]?["state"] == "locked")
            let doctor = try await scene.agent.authc("doctor")
            #expect(doctor.status == 4 && doctor.out.contains("secret-service is locked"), "\(doctor.out)")

            // The next login opens it without a prompt.
            await wallet.end()
            let next = try await scene.desktop.startKWallet()
            _ = try await scene.agent.authc("store", "unlock")
            #expect(try await until { try await !scene.agent.status("app-template").unsaved })
            try await scene.restart()
            #expect(try await scene.agent.authc("wait", "--timeout", "30s").status == 0)
            #expect(try await scene.agent.authc("token").out == unsaved)
            #expect(scene.signIns == 1)
            #expect(try await scene.agent.authc("logout").status == 0)
            #expect(try await scene.desktop.keyringItems().isEmpty)
            await next.end()
        }
    }
}

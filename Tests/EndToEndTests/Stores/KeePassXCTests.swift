import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// A keyring that asks its user about each program that writes, and a provider that rotates refresh tokens.
@Suite("With KeePassXC", .serialized, .timeLimit(.minutes(2)))
struct KeePassXCTests {
    private func play(
        _ test: @escaping @Sendable (Scene, OAuthStandIn, KeePassXC) async throws -> Void
    ) async throws {
        try await OAuthScene.play(keyring: false) { scene, server in
            let keyring = try await KeePassXC(on: scene.desktop)
            let result: Result<Void, any Error>
            do {
                // Asked to unlock its database while it opens that, KeePassXC 2.7.4 crashes.
                try await scene.agent.child.end()
                try await keyring.start()
                try await scene.startAgent()
                try await test(scene, server, keyring)
                result = .success(())
            } catch {
                result = .failure(error)
            }
            await keyring.end()
            try result.get()
        }
    }

    private func expectAsked(_ scene: Scene, _ server: OAuthStandIn, refreshes: Int) async throws {
        let refused = try await scene.agent.authc("refresh")
        #expect(refused.status == 4, "\(refused.err)")
        #expect(refused.err.contains("is asking you a question"), "\(refused.err)")
        #expect(server.counts.refreshes == refreshes)
    }

    /// What it says, wherever its lines end.
    private func doctor(_ scene: Scene) async throws -> (status: Int32, words: String) {
        let doctor = try await scene.agent.authc("doctor")
        return (doctor.status, doctor.out.split(whereSeparator: \.isWhitespace).joined(separator: " "))
    }

    @Test("no refresh token is spent before the user has answered, and a kill while it asks loses nothing")
    func asks() async throws {
        try await play { scene, server, keyring in
            let login = try await scene.loginByDevice(server)
            #expect(login.status == 0, "\(login.err)")
            let token = try await scene.agent.authc("token").out
            // The first renewal of another run.
            try await scene.restart()
            #expect(try await scene.agent.authc("wait", "--timeout", "30s").status == 0)
            try await expectAsked(scene, server, refreshes: 0)
            #expect(try await scene.agent.authc("token").out == token)
            let store = try await scene.ask("agent.info", [:])["store"]
            #expect(store?["state"] == "waiting", "\(store?.text() ?? "")")
            let refused = try await scene.ask("session.refresh", [:])
            #expect(refused["error"]?["data"]?["cause"] == "keyring_waiting", "\(refused.text())")
            let process = try #require(keyring.pid)
            let doctor = try await self.doctor(scene)
            #expect(doctor.words.contains("asking you something (keepassxc, process \(process))"), "\(doctor.words)")
            #expect(doctor.status == 4)

            try await scene.agent.child.end(SIGKILL)
            try await scene.startAgent()
            #expect(try await scene.agent.authc("wait", "--timeout", "30s").status == 0)
            try await expectAsked(scene, server, refreshes: 0)
            try await keyring.allow()
            #expect(try await until { try await scene.agent.authc("refresh").status == 0 })
            let renewed = try await scene.agent.authc("token").out
            #expect(renewed != token)

            // What was written after that is what the next run finds.
            try await scene.agent.child.end(SIGKILL)
            try await scene.startAgent()
            #expect(try await scene.agent.authc("wait", "--timeout", "30s").status == 0)
            #expect(try await scene.agent.authc("token").out == renewed)
            let refreshes = server.counts.refreshes
            try await expectAsked(scene, server, refreshes: refreshes)
            try await keyring.allow()
            #expect(try await until { try await scene.agent.authc("refresh").status == 0 })
            #expect(server.counts.reuses == 0)
            #expect(try await self.doctor(scene).words.contains("open (keepassxc, process \(process))"))
        }
    }

    @Test("an item that it lost is written again, and one that the user deletes is a sign-out")
    func loses() async throws {
        try await play { scene, server, keyring in
            let database = URL(filePath: keyring.database)
            let before = try Data(contentsOf: database)
            #expect(try await scene.loginByDevice(server).status == 0)
            let token = try await scene.agent.authc("token").out
            #expect(try await scene.desktop.keyringItems().count == 1)
            // It ended before it had saved the item.
            await keyring.kill()
            #expect(try await until { try await scene.ask("agent.info", [:])["store"]?["state"] == "missing" })
            try before.write(to: database)
            try scene.agent.child.kill(SIGSTOP)
            try await keyring.start()
            try scene.agent.child.kill(SIGCONT)
            #expect(try await until { try await scene.desktop.keyringItems().count == 1 })
            #expect(try await scene.agent.authc("token").out == token)
            try await scene.restart()
            #expect(try await scene.agent.authc("wait", "--timeout", "30s").status == 0)
            #expect(try await scene.agent.authc("token").out == token)

            try await scene.desktop.removeItem(session: OAuthScene.provider)
            let ended = try await scene.agent.authc("wait", "-s", OAuthScene.provider, "--until", "signed_out")
            #expect(ended.status == 0, "\(ended.err)")
            #expect(try await scene.desktop.keyringItems().isEmpty)
        }
    }
}

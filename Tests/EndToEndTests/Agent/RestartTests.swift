import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// After `systemctl --user restart authd`, with any state of the keyring.
@Suite("A restart under a service manager", .serialized, .timeLimit(.minutes(2)))
struct RestartTests {
    /// An agent with one session, whose manager keeps what it is given.
    private func play(_ test: @escaping @Sendable (Scene, FakeDescriptorStore) async throws -> Void) async throws {
        try await Scene.play { scene in
            let descriptorStore = FakeDescriptorStore()
            try await scene.restart(descriptorStore: descriptorStore)
            #expect(try await scene.login(.appTemplate).status == 0)
            try await test(scene, descriptorStore)
        }
    }

    /// Read from the socket by the first word that is said there.
    private func firstToken(_ scene: Scene) async throws -> JSON { try await scene.ask("token.get", [:]) }

    @Test("serves the token at once while the keyring is locked, and renews it when the keyring has accepted a write")
    func locked() async throws {
        try await play { scene, descriptorStore in
            let token = try await scene.agent.authc("token").out
            try await scene.agent.child.end()
            try await scene.desktop.lockKeyring()
            try await scene.startAgent(descriptorStore: descriptorStore)
            #expect(try await firstToken(scene)["access_token"]?.stringValue.map { $0 + "\n" } == token)
            // The keyring holds the refresh token, and might refuse the next one.
            #expect(try await scene.agent.authc("refresh").status == 4)
            #expect(try await scene.agent.authc("token").out == token)
            let opened = try await scene.desktop.unlockKeyring()
            #expect(try await until { try await scene.agent.authc("refresh").status == 0 })
            try await scene.desktop.lockKeyring()
            #expect(try await scene.agent.authc("refresh").status == 0)
            let renewed = try await scene.agent.authc("token").out
            #expect(renewed != token)
            // Killed, so that nothing is written at the end: the manager alone has it now.
            try await scene.agent.child.end(SIGKILL)
            try await scene.startAgent(descriptorStore: descriptorStore)
            #expect(try await scene.agent.authc("token").out == renewed)
            #expect(try await scene.agent.status("app-template").unsaved)
            // Never a moment with none.
            #expect(descriptorStore.fewest == 1)

            let unlocked = try await scene.desktop.unlockKeyring()
            #expect(try await until { try await !scene.agent.status("app-template").unsaved })
            try await scene.restart()
            #expect(try await scene.agent.authc("token").out == renewed)
            #expect(scene.signIns == 1)
            await unlocked.end()
            await opened.end()
        }
    }

    @Test("serves the token at once without a keyring")
    func gone() async throws {
        try await play { scene, descriptorStore in
            let token = try await scene.agent.authc("token").out
            try await scene.agent.child.end()
            try await scene.startAgent(
                with: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(scene.desktop.folder.path)/no-bus"],
                descriptorStore: descriptorStore)
            #expect(try await scene.agent.authc("token").out == token)
            #expect(try await scene.agent.status("app-template").unsaved == false)
        }
    }

    @Test("hands nothing on of who signed out, and nothing that is not sealed in the manager's hands")
    func signedOut() async throws {
        try await play { scene, descriptorStore in
            let token = try await scene.agent.authc("token").out.trimmingCharacters(in: .newlines)
            #expect(descriptorStore.contents().contains { $0.range(of: Data(token.utf8)) != nil })
            let copies = descriptorStore.entries.map { dup($0.descriptor) }
            defer { for copy in copies { close(copy) } }
            #expect(try await scene.agent.authc("logout").status == 0)
            #expect(descriptorStore.entries.isEmpty)
            for copy in copies { #expect(FakeDescriptorStore.content(of: copy).allSatisfy { $0 == 0 }) }
            try await scene.restart(descriptorStore: descriptorStore)
            #expect(try await scene.agent.authc("token").status == 3)
        }
    }

    @Test("does not hand over a session whose token needs a check of presence; it is read from the keyring")
    func marked() async throws {
        try await play { scene, descriptorStore in
            let token = try await scene.agent.authc("token").out.trimmingCharacters(in: .newlines)
            #expect(descriptorStore.contents().contains { $0.range(of: Data(token.utf8)) != nil })
            let copies = descriptorStore.entries.map { dup($0.descriptor) }
            defer { for copy in copies { close(copy) } }
            try scene.prependSettings("[sessions.app-template]\npresence = true\n")
            #expect(try await scene.agent.authc("reload").status == 0)
            #expect(descriptorStore.entries.isEmpty)
            for copy in copies { #expect(FakeDescriptorStore.content(of: copy).allSatisfy { $0 == 0 }) }
            try await scene.restart(descriptorStore: descriptorStore)
            #expect(try await scene.agent.status("app-template").state == .active)
            #expect(try await scene.agent.authc("refresh").status == 0)
            #expect(descriptorStore.entries.isEmpty)
        }
    }

    @Test("ends a session that was removed from the keyring meanwhile")
    func removedMeanwhile() async throws {
        try await play { scene, descriptorStore in
            try await scene.agent.child.end()
            try await scene.desktop.removeItem(session: "app-template")
            try await scene.startAgent(descriptorStore: descriptorStore)
            let ended = try await scene.agent.authc("wait", "-s", "app-template", "--until", "signed_out")
            #expect(ended.status == 0, "\(ended.err)")
            #expect(try await scene.agent.authc("token").status == 3)
            // `authc wait` returns before the copy is removed; `authc logout` returns after that.
            #expect(try await until { descriptorStore.entries.isEmpty })
        }
    }

    @Test("ends a session if the user removes its item while authd runs, and repairs a damaged item")
    func changedByUser() async throws {
        try await play { scene, descriptorStore in
            let token = try await scene.agent.authc("token").out
            try await scene.desktop.spoilItem(session: "app-template", provider: "app-template")
            #expect(try await scene.agent.authc("token").out == token)
            #expect(try await scene.agent.authc("refresh").status == 0)
            try await scene.restart()
            #expect(try await scene.agent.authc("token").status == 0)
            try await scene.desktop.removeItem(session: "app-template")
            #expect(
                try await scene.agent.authc("wait", "-s", "app-template", "--until", "signed_out").status == 0)
            #expect(try await scene.agent.authc("token").status == 3)
            #expect(try await scene.desktop.keyringItems().isEmpty)
        }
    }

    @Test("continues with newer items of the keyring")
    func newerInKeyring() async throws {
        try await play { scene, descriptorStore in
            // Left behind by another run, as if the last renewal had not reached the service manager.
            let old = descriptorStore.entries.map {
                (name: $0.name, bytes: FakeDescriptorStore.content(of: $0.descriptor))
            }
            #expect(try await scene.agent.authc("refresh").status == 0)
            let renewed = try await scene.agent.authc("token").out
            try await scene.agent.child.end()
            let stale = FakeDescriptorStore()
            for entry in old { stale.put(FakeDescriptorStore.sealedMemory(holding: entry.bytes), as: entry.name) }
            try await scene.startAgent(descriptorStore: stale)
            #expect(try await until { try await scene.agent.authc("token").out == renewed })
            #expect(try await scene.agent.authc("refresh").status == 0)
            #expect(scene.signIns == 1)
        }
    }

    @Test("has the newest sessions after the manager hung for a while, which blocked no caller")
    func managerHung() async throws {
        try await play { scene, descriptorStore in
            let names = (1...20).map { "many-\($0)" }
            for name in names {
                let login = try await scene.agent.authc(
                    "login", Backend.appTemplate.rawValue, "-s", name, "--environment", "local", "--field",
                    "email=ada@example.org", "--password-stdin", input: "Correct-horse1")
                #expect(login.status == 0, "\(login.err)")
            }
            let manager = try scene.agent.notifications
            manager.stopReceiving()
            let before = descriptorStore.entries.map(\.name)
            var tokens: [String] = []
            for name in names {
                let former = try await scene.agent.authc("token", "-s", name).out
                #expect(try await scene.agent.authc("refresh", "-s", name).status == 0)
                let renewed = try await scene.agent.authc("token", "-s", name).out
                #expect(renewed != former)
                tokens.append(renewed)
            }
            #expect(descriptorStore.entries.map(\.name) == before)
            #expect(descriptorStore.contents().allSatisfy { $0.allSatisfy { $0 == 0 } })
            manager.receiveAgain()
            let newest = Data((tokens.last ?? "").trimmingCharacters(in: .newlines).utf8)
            #expect(
                try await until {
                    let contents = descriptorStore.contents()
                    return contents.count == 1 && contents[0].range(of: newest) != nil
                })

            // The agent is killed, so that it writes nothing when it ends.
            try await scene.agent.child.end(SIGKILL)
            try await scene.desktop.lockKeyring()
            try await scene.startAgent(descriptorStore: descriptorStore)
            for (name, token) in zip(names, tokens) {
                #expect(try await scene.agent.authc("token", "-s", name).out == token)
            }
        }
    }

    @Test("of an agent without systemd hands nothing over")
    func unmanaged() async throws {
        try await play { scene, _ in
            try await scene.agent.child.end()
            let agent = try await Child([Programs.authd], environment: scene.desktop.environment)
            await agent.err.wait(for: "Serving")
            #expect(try await scene.authc(["token"]).status == 0)
            let maps = try? ProcessMemory.maps(of: agent.pid)
            // Only root gets to see what memory it has.
            #expect(geteuid() == 0 ? maps?.contains("authd-sessions") == false : maps == nil)
            await agent.end()
        }
    }
}

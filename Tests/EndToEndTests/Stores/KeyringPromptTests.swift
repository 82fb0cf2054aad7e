import AuthWire
import StandInBackends
import TestSupport
import Testing

/// gnome-keyring's prompt for the password of a locked keyring, and the user's answers.
@Suite("A user who is asked to unlock the keyring", .serialized, .timeLimit(.minutes(2)))
struct KeyringPromptTests {
    /// An agent that is about to start with one session, in a keyring that is locked and will ask.
    private func play(
        _ test: @escaping @Sendable (Scene, Person, _ token: String) async throws -> Void
    ) async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.appTemplate)
            let token = try await scene.agent.authc("token").out
            try await scene.agent.child.end()
            let person = try await Person(on: scene.desktop)
            let keyring = try await scene.desktop.startKeyring(replacing: true, before: person)
            try await scene.desktop.lockKeyring()
            try await test(scene, person, token)
            #expect(await person.isDone())
            #expect(scene.signIns == 1)
            await keyring.end()
            await person.end()
        }
    }

    private func state(_ scene: Scene) async throws -> JSON? {
        try await scene.ask("agent.info", [:])["store"]?["state"]
    }

    @Test("refuses, and is not prompted again before their next request")
    func cancels() async throws {
        try await play { scene, person, token in
            await person.will(.cancel)
            try await scene.startAgent()
            #expect(try await until { try await state(scene) == "denied" })
            await person.will(.type(Desktop.keyringPassword))
            for _ in 1...3 { #expect(try await scene.agent.authc("token", "-s", "app-template").status == 4) }
            let doctor = try await scene.agent.authc("doctor")
            #expect(doctor.status == 4 && doctor.out.contains("secret-service is locked"), "\(doctor.out)")
            #expect(await !person.isDone())
            _ = try await scene.agent.authc("store", "unlock")
            #expect(try await scene.agent.authc("wait", "-s", "app-template", "--timeout", "30s").status == 0)
            #expect(try await scene.agent.authc("token").out == token)
        }
    }

    @Test("types a wrong password and then the right one, and authd continues by itself")
    func mistypes() async throws {
        try await play { scene, person, token in
            await person.will(.type("mistyped"))
            await person.will(.type(Desktop.keyringPassword))
            try await scene.startAgent()
            #expect(try await scene.agent.authc("wait", "-s", "app-template", "--timeout", "30s").status == 0)
            #expect(try await scene.agent.authc("token").out == token)
        }
    }

    @Test("answers late: other requests fail at once, the prompt is not repeated, and authd continues")
    func answersLate() async throws {
        try await play { scene, person, token in
            await person.will(.type(Desktop.keyringPassword))
            person.lookAway()
            try await scene.startAgent()
            for _ in 1...3 {
                let refused = try await scene.ask("token.get", ["session": "app-template"])
                #expect(refused["error"]?["data"]?["kind"] == "keyring_locked", "\(refused.text())")
            }
            #expect(try await scene.login(.envelope).status == 4)
            #expect(try await scene.agent.authc("store", "unlock").status == 4)
            #expect(try await state(scene) == "locked")
            person.lookBack()
            #expect(try await scene.agent.authc("wait", "-s", "app-template", "--timeout", "30s").status == 0)
            #expect(try await scene.agent.authc("token").out == token)
        }
    }
}

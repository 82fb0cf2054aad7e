import AuthWire
import StandInBackends
import TestSupport
import Testing

/// The live view of `authc watch` with the real daemon and backends.
@Suite("authc watch", .timeLimit(.minutes(2)))
struct WatchTests {
    @Test("shows sessions as they are signed in, renews one and signs it out")
    func watch() async throws {
        try await Scene.play { scene in
            let terminal = try await scene.terminal("NO_COLOR=1 authc watch")
            await terminal.waits(for: "There are no sessions.")
            #expect(try await scene.login(.appTemplate).status == 0)
            #expect(try await scene.login(.envelope).status == 0)
            await terminal.waits(for: "session 1 of 2")
            await terminal.waits(for: "NEXT RENEWALS")
            let former = try await scene.agent.authc("token", "-s", "envelope").out
            terminal.mark()
            terminal.type("j")
            await terminal.waits(for: ">   envelope")
            terminal.type("r")
            await terminal.waits(for: "envelope has a new token")
            #expect(try await scene.agent.authc("token", "-s", "envelope").out != former)
            terminal.mark()
            terminal.type("s")
            await terminal.waits(for: "Sign out envelope? [y/N]")
            terminal.type("y")
            await terminal.waits(for: "envelope is signed out")
            let left = try await SessionList(scene.agent.json("list")).sessions.map(\.session.text)
            #expect(left == ["app-template"])
            // A restart of the agent does not end it.
            terminal.mark()
            try await scene.restart()
            await terminal.waits(for: "authd is not running")
            await terminal.waits(for: "session 1 of 1")
            terminal.type("q")
            await terminal.waits(for: "exit 0")
            #expect(terminal.echoes && terminal.readsLines)
            await terminal.ends()
        }
    }

    @Test("shows which program got a token, and locks the agent")
    func callers() async throws {
        try await Scene.play { scene in
            #expect(try await scene.login(.appTemplate).status == 0)
            #expect(try await scene.agent.authc("token").status == 0)
            let terminal = try await scene.terminal("NO_COLOR=1 authc watch")
            await terminal.waits(for: "CALLERS")
            await terminal.waits(for: "token.get app-template")
            terminal.mark()
            terminal.type("l")
            await terminal.waits(for: "`authc lock --set-passphrase`")
            #expect(try await scene.agent.authc("token").status == 0)
            terminal.mark()
            try await scene.prepareLock()
            await terminal.waits(for: "session 1 of 1")
            terminal.type("l")
            await terminal.waits(for: "The agent is locked. `authc unlock` unlocks it.")
            await terminal.waits(for: "authd · locked · network")
            #expect(try await scene.agent.authc("token").status == 77)
            terminal.mark()
            #expect(try await scene.unlock().status == 0)
            await terminal.waits(for: "authd · network")
            terminal.type("q")
            await terminal.waits(for: "exit 0")
            await terminal.ends()
        }
    }
}

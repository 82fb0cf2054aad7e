import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// The agent's lock, with the real programs.
@Suite("The agent's lock, end to end", .serialized, .timeLimit(.minutes(3)))
struct AgentLockTests {
    @Test("the passphrase is set on a terminal, typed twice and not shown; then authc locks and unlocks with it")
    func terminal() async throws {
        try await Scene.play { scene in
            #expect(try await scene.login(.appTemplate).status == 0)
            let token = try await scene.agent.authc("token").out
            let refused = try await scene.agent.authc("lock")
            #expect(refused.status == 65 && refused.err.contains("authc lock --set-passphrase"), "\(refused.err)")
            let notLocked = try await scene.agent.authc("unlock", "--no-input")
            #expect(notLocked.status == 65 && notLocked.err.contains("authc store unlock"), "\(notLocked.err)")

            let setting = try await scene.terminal("authc lock --set-passphrase")
            await setting.waits(for: "New passphrase of the lock: ")
            setting.type("\(Scene.lockPassphrase)\n")
            await setting.waits(for: "again: ")
            setting.type("\(Scene.lockPassphrase)\n")
            await setting.waits(for: "exit ")
            await setting.ends()
            #expect(
                setting.text.contains("The passphrase is set.") && !setting.text.contains("horse"), "\(setting.text)")

            let locked = try await scene.agent.authc("lock")
            #expect(locked.status == 0 && locked.err.contains("stay valid until they end, at "), "\(locked.err)")
            #expect(locked.err.contains("authc logout --all"))
            #expect(try await scene.agent.authc("token").status == 77)
            let unlocking = try await scene.terminal("authc unlock")
            await unlocking.waits(for: "Passphrase of the lock: ")
            unlocking.mark()
            unlocking.type("wrong horse battery\n")
            await unlocking.waits(for: "The passphrase of the lock is wrong.")
            await unlocking.waits(for: "Passphrase of the lock: ")
            unlocking.type("\(Scene.lockPassphrase)\n")
            await unlocking.waits(for: "exit ")
            await unlocking.ends()
            #expect(unlocking.text.contains("The agent is unlocked.\r\nexit 0"), "\(unlocking.text)")
            #expect(!unlocking.text.contains("horse"))
            #expect(try await scene.agent.authc("token").out == token)

            // Another one needs the present one.
            let command = "exec 3<<<'\(Scene.lockPassphrase)'; \"$0\" lock --set-passphrase --passphrase-stdin"
            let missing = try await scene.shell(command + " <<<'another horse battery'")
            #expect(missing.status == 65, "\(missing.err)")
            let changed = try await scene.shell(command + " --current-fd 3 <<<'another horse battery'")
            #expect(changed.status == 0, "\(changed.err)")
            try await scene.lock()
            #expect(try await scene.unlock().status == 65)
            #expect(try await scene.unlock("another horse battery").status == 0)
            try await scene.expectNoSecretInLog()
            #expect(try !scene.agent.child.err.text.contains("horse"))
        }
    }

    @Test("every way to a token is refused with the exit status 77, and what shows a state shows the lock")
    func refused() async throws {
        try await Scene.play { scene in
            try await scene.prepareLock()
            #expect(try await scene.login(.appTemplate).status == 0)
            try await scene.waitForName()
            let token = try await scene.token()
            let host = scene.backends.url(.appTemplate).replacing("http://", with: "")
            let helper = "printf 'protocol=http\\nhost=\(host)\\n\\n' | \"$0\" helper git get"
            #expect(try await scene.shell(helper).out.contains(token))
            try await scene.lock()
            for line in [
                "$0 token", "$0 token --min-valid 1s", "$0 exec -- echo started", "$0 env", "$0 request GET /me",
                "$0 refresh", "$0 validate", "$0 whoami",
                "$0 export - --passphrase-stdin <<<'correct horse battery' | cat",
                "$0 login anonymous-wall --environment local --no-input", "$0 store unlock", "$0 reload",
                "$0 use app-template",
            ] {
                let output = try await scene.shell("set -o pipefail; " + line)
                #expect(output.status == 77, "\(line): \(output.status) \(output.out)\(output.err)")
                #expect(output.err.contains("authc unlock") && !output.out.contains(token), "\(line): \(output.err)")
            }
            let git = try await scene.shell(helper)
            #expect(!git.out.contains(token) && !git.out.contains("password"), "\(git.out)")
            let bus = try await scene.busToken("/org/authd/session/app_2dtemplate")
            #expect(bus.out.isEmpty && bus.err.contains("org.authd.Error.AgentLocked"), "\(bus)")

            let status = try await scene.agent.authc("status")
            #expect(status.status == 0 && status.out.contains("locked since"), "\(status.out)")
            #expect(try await scene.agent.authc("list").status == 0)
            #expect(try await scene.agent.status("app-template").lockedSince != nil)
            #expect(try await scene.agent.authc("prompt").out == "app-template:ada@example.org!locked\n")
            let doctor = try await scene.agent.authc("doctor")
            #expect(doctor.status == 77 && doctor.out.contains("is locked"), "\(doctor.out)")

            #expect(try await scene.unlock().status == 0)
            #expect(try await scene.token() == token)
            #expect(try await scene.agent.authc("prompt").out == "app-template:ada@example.org\n")
            #expect(try await scene.agent.authc("doctor").out.contains("is locked") == false)
        }
    }

    @Test("a sign-out works while the agent is locked, and revokes")
    func logout() async throws {
        try await OAuthScene.play { scene, server in
            try await scene.prepareLock()
            #expect(try await scene.loginByDevice(server).status == 0)
            try await scene.lock()
            let logout = try await scene.agent.authc("logout", "--all", "--yes")
            #expect(logout.status == 0, "\(logout.err)")
            #expect(server.counts.revocations > 0)
            #expect(try await scene.agent.authc("token").status == 77)
        }
    }

    @Test("sessions are renewed while the agent is locked; tokens for an audience are requested again after it")
    func renewals() async throws {
        try await OAuthScene.play { scene, server in
            try await scene.prepareLock()
            #expect(try await scene.loginByDevice(server).status == 0)
            let audience = ["token", "--audience", "https://api.example.org/v1"]
            let targeted = try await scene.authc(audience).out
            #expect(try await scene.authc(audience).out == targeted && !targeted.isEmpty)
            let before = try await scene.authc(["token"]).out
            try await scene.lock()
            let locked = server.counts.refreshes
            server.setTokenLifetime(.seconds(2))
            // The agent reads the token's short life with the next renewal.
            #expect(try await scene.unlock().status == 0)
            #expect(try await scene.authc(["refresh"]).status == 0)
            try await scene.lock()
            let renewed = server.counts.refreshes
            #expect(renewed > locked)
            try await server.waitForCounts { $0.refreshes >= renewed + 2 }
            #expect(try await scene.authc(["token"]).status == 77)
            server.setTokenLifetime(.seconds(3600))
            let targets = server.counts.targets.count
            #expect(try await scene.unlock().status == 0)
            let after = try await scene.authc(["token"])
            #expect(after.status == 0 && after.out != before, "\(after.err)")
            let again = try await scene.authc(audience)
            #expect(again.status == 0 && again.out != targeted, "\(again.err)")
            #expect(server.counts.targets.count == targets + 1)
            #expect(server.counts.reuses == 0)
        }
    }

    @Test("a kill and a restart do not unlock, and the manager's copy is gone: the sessions come from the store")
    func restart() async throws {
        try await Scene.play { scene in
            let descriptorStore = FakeDescriptorStore()
            try await scene.prepareLock(descriptorStore: descriptorStore)
            #expect(try await scene.login(.appTemplate).status == 0)
            let token = try await scene.token()
            #expect(try await scene.hasOneCopy(descriptorStore))
            let copies = descriptorStore.entries.map { dup($0.descriptor) }
            defer { for copy in copies { close(copy) } }
            try await scene.lock()
            let since = try await scene.agent.status("app-template").lockedSince
            #expect(descriptorStore.entries.isEmpty)
            for copy in copies { #expect(FakeDescriptorStore.content(of: copy).allSatisfy { $0 == 0 }) }
            for signal in [SIGKILL, SIGTERM] {
                try await scene.agent.child.end(signal)
                try await scene.startAgent(descriptorStore: descriptorStore)
                #expect(try await scene.agent.authc("token", "-s", "app-template").status == 77)
                let wait = try await scene.agent.authc("wait", "-s", "app-template", "--until", "active")
                #expect(wait.status == 0, "\(wait.err)")
                #expect(try await scene.agent.status("app-template").lockedSince == since?.rounded(.down))
                #expect(descriptorStore.entries.isEmpty)
            }
            #expect(try await scene.unlock().status == 0)
            #expect(try await scene.token() == token)
            #expect(try await scene.hasOneCopy(descriptorStore))
            // And an unlocked one stays unlocked.
            try await scene.agent.child.end(SIGKILL)
            try await scene.startAgent(descriptorStore: descriptorStore)
            #expect(try await scene.token() == token)
        }
    }

    @Test("a copy that an earlier run left with the manager is discarded by an agent that starts locked")
    func leftBehind() async throws {
        try await Scene.play { scene in
            let descriptorStore = FakeDescriptorStore()
            try await scene.prepareLock(descriptorStore: descriptorStore)
            #expect(try await scene.login(.appTemplate).status == 0)
            #expect(try await scene.hasOneCopy(descriptorStore))
            try await scene.agent.child.end(SIGKILL)
            // As if it had been killed between the two.
            try "authd-lock 1\nlocked 1800000000 command\nend\n".write(
                toFile: scene.lockFile, atomically: false, encoding: .utf8)
            try await scene.startAgent(descriptorStore: descriptorStore)
            #expect(try await scene.agent.authc("token", "-s", "app-template").status == 77)
            #expect(descriptorStore.entries.isEmpty)
        }
    }

    @Test("a state that cannot be read means locked, and the passphrase still unlocks")
    func damaged() async throws {
        try await Scene.play { scene in
            try await scene.prepareLock()
            #expect(try await scene.login(.appTemplate).status == 0)
            for text in ["", "authd-lock 1\nunlocked\n", "authd-lock 9\nunlocked\nend\n"] {
                try await scene.agent.child.end()
                try text.write(toFile: scene.lockFile, atomically: false, encoding: .utf8)
                try await scene.startAgent()
                #expect(try await scene.agent.authc("token", "-s", "app-template").status == 77)
                let info = try AgentInfo(try await scene.ask("agent.info", [:]))
                #expect(info.lock?.reason == "unknown")
                #expect(try await scene.unlock().status == 0)
                #expect(try await scene.agent.authc("token").status == 0)
            }
        }
    }

    @Test("three wrong passphrases pause the lock, even after a kill; a kill during a check counts as a failure")
    func attempts() async throws {
        try await Scene.play { scene in
            // A check takes long enough to be killed.
            try await scene.prepareLock(cost: 17)
            try await scene.lock()
            let checking = try await Child(
                ["bash", "-c", "\"$0\" unlock --passphrase-stdin <<<'\(Scene.lockPassphrase)'", Programs.authc],
                environment: scene.desktop.environment)
            #expect(
                try await until { try await scene.desktop.run(["grep", "-q", "failed ", scene.lockFile]).status == 0 })
            try await scene.agent.child.end(SIGKILL)
            await checking.end()
            try await scene.startAgent()
            #expect(try AgentInfo(try await scene.ask("agent.info", [:])).lock?.failedAttempts == 1)
            for number in 2...3 {
                let wrong = try await scene.unlock("wrong horse battery")
                #expect(wrong.status == (number == 2 ? 65 : 77), "\(wrong.err)")
            }
            try await scene.agent.child.end(SIGKILL)
            try await scene.startAgent()
            let right = try await scene.unlock()
            #expect(right.status == 77 && right.err.contains("try again in"), "\(right.err)")
        }
    }

    @Test("a sign-in in progress is cancelled")
    func signIn() async throws {
        try await Scene.play { scene in
            try await scene.prepareLock()
            let step = try await scene.ask(
                "login.start", ["provider": "app-template", "environment": "local", "method": "password"])
            let login = try #require(step["login"]?.stringValue, "\(step)")
            try await scene.lock()
            let fields: JSON = [
                "login": .string(login), "fields": ["email": "ada@example.org", "password": "Correct-horse1"],
            ]
            let locked = try await scene.ask("login.answer", fields)
            #expect(locked.errorKind == "agent_locked", "\(locked)")
            #expect(try await scene.unlock().status == 0)
            let answer = try await scene.ask("login.answer", fields)
            #expect(
                answer["status"] == nil && answer["kind"] != "done" && answer.errorKind != "agent_locked", "\(answer)")
            #expect(scene.signIns == 0)
            #expect(try SessionList(try await scene.agent.json("list")).sessions.isEmpty)
        }
    }

    @Test("a stream that is open ends")
    func stream() async throws {
        try await Scene.play { scene in
            try await scene.prepareLock()
            #expect(try await scene.login(.appTemplate).status == 0)
            let path = scene.desktop.folder.path + "/run/authd/socket"
            try await onThread {
                let (client, other) = (try RawClient(path, timeout: 60), try RawClient(path, timeout: 60))
                let call: JSON = ["method": "GET", "path": "/users", "stream": "s", "answer": "stream"]
                #expect(try client.ask("api.request", call)["result"]?["stream"] == "s")
                #expect(try other.ask("agent.lock")["result"]?["locked"] == true)
                #expect(try client.ask("api.read", ["stream": "s"]).errorKind == "agent_locked")
                let passphrase: JSON = .string(Scene.lockPassphrase)
                #expect(try other.ask("agent.unlock", ["passphrase": passphrase])["result"]?["locked"] == false)
                #expect(try client.ask("api.read", ["stream": "s"])["result"] == nil)
                #expect(try client.ask("api.request", call)["result"]?["stream"] == "s")
            }
        }
    }

    @Test("queued writes wait until the unlock, and are sent then")
    func outbox() async throws {
        try await Scene.play { scene in
            try await scene.prepareLock()
            #expect(try await scene.login(.forkInTheRoad).status == 0)
            let watch = try await Child([Programs.authc, "watch", "--json"], environment: scene.desktop.environment)
            #expect(await watch.out.wait(for: "snapshot"))
            try await scene.backends.setListening(false, .forkInTheRoad)
            let queued = try await scene.authc(["call", "create-collection", "--queue", "name=Later"])
            #expect(queued.status == 0 && queued.err.contains("queued as"), "\(queued.err)")
            try await scene.lock()
            #expect(await watch.out.wait(for: "\"event\":\"locked\""))
            try await scene.backends.setListening(true, .forkInTheRoad)
            #expect(try await scene.authc(["outbox", "flush"]).status == 77)
            // A renewal reaches the provider, which would send what waits.
            let again = try await scene.authc(["call", "create-collection", "--queue", "name=Now"])
            #expect(again.status == 77)
            let waiting = try OutboxList(await scene.agent.json("outbox", "list")).entries
            #expect(waiting.count == 1 && scene.backends.counts[.forkInTheRoad, "POST /api/collections"] == 0)
            #expect(try await scene.unlock().status == 0)
            #expect(await watch.out.wait(for: "\"event\":\"sent\""))
            await watch.end()
            #expect(try OutboxList(await scene.agent.json("outbox", "list")).entries.isEmpty)
        }
    }

    @Test("a proxy answers 503 while the agent is locked, and the server sees no request")
    func proxy() async throws {
        try await ProxyScene.play { play in
            try await play.scene.prepareLock()
            try await play.proxy { proxy in
                #expect(try await proxy.curl("/a").hasPrefix("HTTP/1.1 200"))
                try await play.scene.lock()
                let before = play.server.output.text
                let refused = try await proxy.curl("/a")
                #expect(refused.hasPrefix("HTTP/1.1 503") && refused.contains("authc unlock"), "\(refused)")
                #expect(play.server.output.text == before)
                #expect(try await play.scene.unlock().status == 0)
                #expect(try await proxy.curl("/a").hasPrefix("HTTP/1.1 200"))
            }
        }
    }
}

extension Scene {
    fileprivate func token() async throws -> String { String(try await agent.authc("token").out.dropLast()) }
}

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

    @Test("a sign-in and a validation wait for the cable and say so; ^C ends a sign-in's wait")
    func signInWithoutCable() async throws {
        try await NetworkLab.play { lab, _ in
            let watch = try await lab.watch()
            try await lab.onGateway("ip link set far down")
            #expect(await watch.out.wait(for: #""network":{"state":"offline""#))
            let signIn = [
                "login", "lab", "--session", "second", "--field", "email=ada@example.org", "--password-stdin",
            ]
            let given = try await lab.start(signIn, input: "Correct-horse1")
            #expect(await given.err.wait(for: "There is no network. The sign-in continues"))
            given.kill(SIGINT)
            #expect(await given.output().status == 128 + SIGINT)
            #expect(try await lab.authc("list").out.contains("second") == false)
            let waiting = try await lab.start(signIn, input: "Correct-horse1")
            #expect(await waiting.err.wait(for: "There is no network. The sign-in continues"))
            let validating = try await lab.start(["validate", "-s", "lab"])
            #expect(await validating.err.wait(for: "There is no network."))
            try await lab.onGateway("ip link set far up")
            let signedIn = await waiting.output()
            #expect(signedIn.status == 0 && signedIn.out.contains("second"), "\(signedIn.err)")
            let validated = await validating.output()
            #expect(validated.status == 0, "\(validated.err)")
            await watch.end()
        }
    }

    @Test("a sign-in and a validation wait until the client's own time limit, whatever that is")
    func ownLimit() async throws {
        try await NetworkLab.play { lab, _ in
            let watch = try await lab.watch()
            try await lab.onGateway("ip link set far down")
            #expect(await watch.out.wait(for: #""network":{"state":"offline""#))
            // authc sends its own limit, and reports why the agent gave up. That is a second before the limit, the
            // longest margin.
            async let signedIn = lab.authc(
                "login", "lab", "-s", "third", "--field", "email=ada@example.org", "--password-stdin", "--timeout",
                "10s",
                input: "Correct-horse1")
            async let valid = lab.authc("validate", "-s", "lab", "--timeout", "10s")
            try await onThread {
                let socket = try RawClient(lab.socket)
                func signIn(_ session: String, milliseconds: Int64) throws -> JSON? {
                    let fields: JSON = ["email": "ada@example.org", "password": "Correct-horse1"]
                    return try socket.ask(
                        "login.start",
                        [
                            "provider": "lab", "session": .string(session), "fields": fields,
                            "timeout_ms": .integer(milliseconds),
                        ])["result"]
                }
                let long = try signIn("long", milliseconds: 600_000)
                let time = try #require(long?["expires_at"]?.doubleValue) - Date().timeIntervalSince1970
                // The test itself may take two minutes.
                #expect(long?["kind"] == "wait" && (400...600).contains(time), "\(time) s")
                let login = try #require(try signIn("short", milliseconds: 1000)?["login"])
                let last = try socket.ask("login.wait", ["login": login])["result"]
                #expect(last?["kind"] == "failed" && last?["error"]?["data"]?["kind"] == "offline")
                // A client that asks again gets the same.
                #expect(try socket.ask("login.wait", ["login": login])["result"] == last)
                let validated = try socket.ask("session.validate", ["session": "lab", "timeout_ms": 10_000])
                #expect(validated["error"]?["data"]?["kind"] == "offline", "\(validated.text())")
            }
            for output in [try await signedIn, try await valid] {
                #expect(output.status == 75 && output.err.contains("no network in the time allowed"), "\(output.err)")
            }
            // The first one was with a network.
            #expect(lab.provider.out.text.split(separator: "\n").count { $0.hasPrefix("POST /login") } == 1)
            await watch.end()
        }
    }

    @Test("the agent stops although a sign-in and a validation wait for the cable")
    func stopsWithoutCable() async throws {
        try await NetworkLab.play { lab, agent in
            let watch = try await lab.watch()
            try await lab.onGateway("ip link set far down")
            #expect(await watch.out.wait(for: #""network":{"state":"offline""#))
            let signIn = try await lab.start(
                ["login", "lab", "-s", "second", "--field", "email=ada@example.org", "--password-stdin"],
                input: "Correct-horse1")
            #expect(await signIn.err.wait(for: "There is no network. The sign-in continues"))
            let validating = try await lab.start(["validate", "-s", "lab"])
            #expect(await validating.err.wait(for: "There is no network."))
            #expect(await agent.end(SIGTERM) == 0)
            for waiting in [signIn, validating] {
                let ended = await waiting.output()
                #expect(ended.status != 0, "\(ended.out)\(ended.err)")
            }
            await watch.end()
        }
    }
}

import AuthWire
import Foundation
import TestSupport
import Testing

/// One agent and the bridges of several programs on a machine that sleeps: they stop, and go on later with clocks that count
/// the sleep (`clock-shim.c`). logind says nothing.
@Suite("Sign-in to a URL: programs that wake together", .serialized, .timeLimit(.minutes(2)))
struct ResourceWakeTests {
    private static let list = #"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{}}"#

    private func play(
        _ test: @escaping @Sendable (ResourceScene, WrongClock, [HeldBridge]) async throws -> Void
    ) async throws {
        let clock = try await WrongClock()
        try await Scene.play { scene in
            try await scene.restart(with: clock.environment)
            try await Peer.running(.mcp, in: scene.desktop) { server in
                let play = ResourceScene(scene: scene, server: server)
                try await play.signIn()
                var bridges: [HeldBridge] = []
                let result: Result<Void, any Error>
                do {
                    for _ in 1...5 {
                        let bridge = try await HeldBridge(play.url, on: scene.desktop, with: clock.environment)
                        bridges.append(bridge)
                        // After this answer, no request of it is in flight.
                        #expect(try await bridge.ask(HeldBridge.initialize)["result"] != nil)
                    }
                    try await test(play, clock, bridges)
                    result = .success(())
                } catch {
                    result = .failure(error)
                }
                for bridge in bridges { await bridge.child.end() }
                try result.get()
            }
        }
    }

    private func count(_ what: String, _ play: ResourceScene) async throws -> Int? {
        Int(try await play.scene.get(play.server.url + "/" + what))
    }

    @Test("five clients wake after two days of sleep with one expired token: one refresh (punkpeye/mcp-remote#351)")
    func sleep() async throws {
        try await play { play, clock, bridges in
            let former = try await play.scene.authc(["token"]).out
            let agent = try play.scene.agent.child
            try await clock.sleep([agent] + bridges.map(\.child), seconds: 2 * 86_400) {
                _ = try await play.scene.get(play.server.url + "/expire", ["--data", ""])
                // Each has a request as soon as it wakes.
                for bridge in bridges { bridge.child.tell(Self.list) }
            }
            for bridge in bridges {
                let answer = try await bridge.answer(to: Self.list)
                #expect(answer["result"]?["tools"] != nil, "\(answer.text()) \(bridge.child.err.text)")
            }
            #expect(try await count("refreshes", play) == 1)
            // By its own clock the agent knew that the token had ended, so no request had it.
            #expect(try await count("refused", play) == 0)
            #expect(try await play.scene.authc(["token"]).out != former)
            #expect(try play.scene.agent.child.pid == agent.pid)
        }
    }

    @Test("15-minute tokens with refresh tokens for one use: a day by the agent's clock without a loss or a second use")
    func day() async throws {
        let clock = try await WrongClock()
        try await ResourceScene.play(["life": 900]) { play in
            try await play.scene.restart(with: clock.environment)
            try await play.signIn()
            let agent = try play.scene.agent.child
            var token = try await play.scene.authc(["token"]).out
            for quarter in 1...96 {
                try await clock.sleep([agent], seconds: quarter * 900)
                let next = try await play.scene.authc(["token"])
                #expect(next.status == 0 && next.out != token, "\(quarter): \(next.err)")
                token = next.out
            }
            // The server revokes everything when a refresh token is used twice.
            #expect(Int(try await play.scene.get(play.server.url + "/refreshes")) == 96)
            let call = try await play.scene.authc(ResourcePeerTests.call())
            #expect(call.status == 0, "\(call.err)")
        }
    }

    @Test("without a request the agent renews by itself after the sleep, once")
    func unasked() async throws {
        try await play { play, clock, bridges in
            let watch = try await Child(
                [Programs.authc, "watch", "--json"], environment: play.scene.desktop.environment)
            #expect(await watch.out.wait(for: "snapshot"))
            let asleep = [try play.scene.agent.child] + bridges.map(\.child)
            try await clock.sleep(asleep, seconds: 2 * 86_400)
            #expect(await watch.out.wait(for: #""state":"active""#, times: 2))
            await watch.end()
            for bridge in bridges { #expect(try await bridge.ask(Self.list)["result"]?["tools"] != nil) }
            #expect(try await count("refreshes", play) == 1)
        }
    }
}

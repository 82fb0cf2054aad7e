import AuthWire
import Foundation
import TestSupport
import Testing

/// `authc mcp URL` between the MCP SDK's own client and real servers behind OAuth.
@Suite("The bridge to MCP servers: the SDK", .serialized, .timeLimit(.minutes(3)))
struct BridgeTests {
    /// As many as a user's editors, agents and tools start together.
    private static let bridges = 20

    /// What the SDK's client prints.
    private func client(_ play: ResourceScene, _ mode: String, _ tools: [String]) async throws -> Child.Output {
        let command = try Peer.Program.bridgeClient.command([Programs.authc, play.url, mode] + tools)
        return try await play.scene.desktop.run(command)
    }

    private func requests(_ play: ResourceScene) async throws -> [[String: String]] {
        let text = try await play.scene.get(play.server.url + "/requests")
        return try JSONDecoder().decode([[String: String]].self, from: Data(text.utf8))
    }

    @Test("2025-11-25: a session, a broken stream that is continued, and the stream of the server")
    func sessions() async throws {
        try await ResourceScene.play(.mcp, ["sessions"]) { play in
            try await play.signIn()
            let token = try await play.scene.authc(["token"]).out.trimmingCharacters(in: .whitespacesAndNewlines)
            let output = try await client(play, "legacy", ["add", "broken", "changed", "add"])
            #expect(output.status == 0, "\(output.err)")
            let lines = output.out.split(separator: "\n").map(String.init)
            #expect(lines.first?.hasPrefix("2025-11-25 ['add', ") == true, "\(output.out)\(output.err)")
            for line in [
                "add {'result': 5}", "broken {'result': 'continued'}", "changed {'result': 'told'}",
                "notification notifications/tools/list_changed",
            ] {
                #expect(lines.contains(line), "\(line): \(output.out)\(output.err)")
            }
            #expect(!(output.out + output.err).contains(token))
            let requests = try await requests(play)
            // The sign-in asked without a session, and so does the first request of a session.
            let inSession = requests.filter { $0["mcp-session-id"] != nil }
            #expect(Set(inSession.map { $0["mcp-session-id"] }).count == 1)
            #expect(inSession.allSatisfy { $0["mcp-protocol-version"] == "2025-11-25" })
            #expect(inSession.contains { $0["method"] == "GET" && $0["last-event-id"] != nil })
            #expect(inSession.contains { $0["method"] == "GET" && $0["last-event-id"] == nil })
            #expect(requests.last?["method"] == "DELETE")
        }
    }

    @Test(
        "the versions before it: a session, the stream of the server, and its end",
        arguments: ["2025-03-26", "2025-06-18"])
    func earlier(version: String) async throws {
        try await ResourceScene.play(.mcp, ["sessions"]) { play in
            try await play.signIn()
            let bridge = try await HeldBridge(
                play.url, ["-s", "127.0.0.1-\(play.server.port)"], on: play.scene.desktop)
            let begun = try await bridge.ask(HeldBridge.initialize.replacing("2025-11-25", with: version))
            #expect(begun["result"]?["protocolVersion"]?.stringValue == version, "\(begun)")
            bridge.child.tell(HeldBridge.initialized)
            let add: JSON = ["name": "add", "arguments": ["a": 2, "b": 3]]
            let sum = try await bridge.ask(1, "tools/call", params: add.text())
            #expect(sum["result"]?["content"]?.arrayValue?.first?["text"] == "5", "\(sum)")
            let changed = try await bridge.ask(2, "tools/call", params: #"{"name":"changed"}"#)
            #expect(changed["result"]?["isError"] != true, "\(changed)")
            #expect(await bridge.child.out.wait(for: "notifications/tools/list_changed"))
            bridge.child.endInput()
            #expect(await bridge.child.ended() == 0, "\(bridge.child.err.text)")
            let inSession = try await requests(play).filter { $0["mcp-session-id"] != nil }
            #expect(Set(inSession.map { $0["mcp-session-id"] }).count == 1)
            #expect(inSession.contains { $0["method"] == "GET" } && inSession.last?["method"] == "DELETE")
            // The header is of 2025-06-18; earlier servers ignore it.
            #expect(inSession.allSatisfy { $0["mcp-protocol-version"] == version }, "\(inSession)")
            #expect(inSession.allSatisfy { $0["mcp-method"] == nil })
        }
    }

    @Test("a server that has forgotten its sessions: the bridge begins another one, and the program does not notice")
    func forgotten() async throws {
        try await ResourceScene.play(.mcp, ["sessions", "open"]) { play in
            let bridge = try await HeldBridge(play.url, on: play.scene.desktop)
            #expect(try await bridge.ask(HeldBridge.initialize)["result"] != nil)
            bridge.child.tell(HeldBridge.initialized)
            #expect(try await bridge.ask(1, "tools/list")["result"]?["tools"] != nil)
            _ = try await play.scene.get(play.server.url + "/forget", ["--data", ""])
            #expect(try await bridge.ask(2, "tools/list")["result"]?["tools"] != nil)
            let sessions = try await requests(play).compactMap { $0["mcp-session-id"] }
            #expect(Set(sessions).count == 2)
            // One answer to initialize, and one to each request.
            #expect(bridge.child.out.text.split(separator: "\n").count == 3)
            await bridge.child.end()
        }
    }

    @Test("2026-07-28: no session, and headers that the SDK's server compares with the body")
    func stateless() async throws {
        try await ResourceScene.play(.mcp, ["sessions"]) { play in
            try await play.signIn()
            let output = try await client(play, "auto", ["add", "route"])
            #expect(output.status == 0, "\(output.err)")
            #expect(output.out.contains("2026-07-28 ['add', ") && output.out.contains("route {'result': 'Übersee'}"))
            let requests = try await requests(play).filter { $0["mcp-method"] != nil }
            #expect(requests.map { $0["mcp-method"] }.contains("server/discover"))
            #expect(requests.allSatisfy { $0["mcp-protocol-version"] == "2026-07-28" && $0["mcp-session-id"] == nil })
            let call = requests.last { $0["mcp-method"] == "tools/call" }
            #expect(call?["mcp-name"] == "route" && call?["mcp-param-region"] == "=?base64?w5xiZXJzZWU=?=")
        }
    }

    @Test("2026-07-28: a tool that the program has not listed is called again with its headers")
    func unlisted() async throws {
        try await ResourceScene.play(.mcp, ["sessions", "open"]) { play in
            let bridge = try await HeldBridge(play.url, on: play.scene.desktop)
            let meta: JSON = [
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": [:],
                "io.modelcontextprotocol/clientInfo": ["name": "test", "version": "1"],
            ]
            let params: JSON = ["name": "route", "arguments": ["region": "eu"], "_meta": meta]
            let answer = try await bridge.ask(1, "tools/call", params: params.text())
            #expect(answer["result"]?["structuredContent"]?["result"] == "eu", "\(answer)")
            let methods = try await requests(play).compactMap { $0["mcp-method"] }
            #expect(methods == ["tools/call", "tools/list", "tools/call"])
            await bridge.child.end()
        }
    }

    @Test("FastMCP's server, with the handshake and without", arguments: ["legacy", "auto"])
    func fastMCP(mode: String) async throws {
        try await ResourceScene.play(.fastMCP) { play in
            try await play.signIn()
            let output = try await client(play, mode, ["add"])
            #expect(output.status == 0 && output.out.contains("add {'result': 5}"), "\(output.out)\(output.err)")
        }
    }

    @Test("a server without authorization needs no session, and no agent", arguments: ["legacy", "auto"])
    func open(mode: String) async throws {
        try await ResourceScene.play(.mcp, ["sessions", "open"]) { play in
            let output = try await client(play, mode, ["add"])
            #expect(output.status == 0 && output.out.contains("add {'result': 5}"), "\(output.out)\(output.err)")
            let bridge = try await HeldBridge(
                play.url, ["--socket", play.scene.desktop.folder.path + "/none"], on: play.scene.desktop)
            #expect(try await bridge.ask(HeldBridge.initialize)["result"] != nil)
            bridge.child.endInput()
            #expect(await bridge.child.ended() == 0)
        }
    }

    @Test("20 bridges meet an access token that has ended, at the same time: one refresh")
    func oneRefresh() async throws {
        try await ResourceScene.play(.mcp) { play in
            try await play.signIn()
            let bridges = try await withThrowingTaskGroup(of: HeldBridge.self) { group in
                for _ in 0..<Self.bridges {
                    group.addTask {
                        let bridge = try await HeldBridge(play.url, on: play.scene.desktop)
                        #expect(try await bridge.ask(HeldBridge.initialize)["result"] != nil)
                        bridge.child.tell(HeldBridge.initialized)
                        return bridge
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            _ = try await play.scene.get(play.server.url + "/expire", ["--data", ""])
            try await withThrowingTaskGroup(of: JSON.self) { group in
                for bridge in bridges { group.addTask { try await bridge.ask(1, "tools/list") } }
                for try await answer in group { #expect(answer["result"]?["tools"] != nil, "\(answer)") }
            }
            #expect(try await play.scene.get(play.server.url + "/refreshes") == "1")
            for bridge in bridges { await bridge.child.end() }
        }
    }
}

import AuthWire
import Foundation
import TestSupport
import Testing

/// What `authc mcp URL` answers if there is no token, and how it ends.
@Suite("The bridge to MCP servers: sign-in and the end", .serialized, .timeLimit(.minutes(3)))
struct BridgeSignInTests {
    private func play(
        _ program: Peer.Program, _ arguments: [String] = [],
        _ test: @escaping @Sendable (ResourceScene, HeldBridge) async throws -> Void
    ) async throws {
        try await ResourceScene.play(program, arguments) { play in
            let bridge = try await HeldBridge(play.url, on: play.scene.desktop)
            try await test(play, bridge)
            await bridge.child.end()
        }
    }

    @Test("each request says how to sign in; after the sign-in the next one works, without a restart")
    func signIn() async throws {
        try await play(.mcp) { play, bridge in
            let error = try await bridge.ask(HeldBridge.initialize)["error"]
            #expect(error?["code"] == -33000 && error?["data"]?["kind"] == "not_signed_in")
            #expect(error?["data"]?["command"] == .string("authc login \(play.url)"))
            #expect(try await bridge.ask(1, "ping")["error"]?["message"] == error?["message"])
            #expect(bridge.child.err.text.contains("Not signed in to \(play.url)."))
            try await play.signIn()
            let again = HeldBridge.initialize.replacing(#""id":0"#, with: #""id":2"#)
            #expect(try await bridge.ask(again)["result"]?["protocolVersion"] != nil)
            bridge.child.tell(HeldBridge.initialized)
            #expect(try await bridge.ask(3, "tools/list")["result"]?["tools"] != nil)
        }
    }

    @Test("a session that has ended: the command that signs in again, and no request without a token")
    func ended() async throws {
        try await play(.resource) { play, bridge in
            try await play.signIn()
            let name = "127.0.0.1-\(play.server.port)"
            try await play.set(["token_failure": [400, "invalid_grant"]])
            _ = try await play.scene.get(play.server.url + "/expire", ["--data", ""])
            let before = try await play.log("/mcp").count
            let first = try await bridge.ask(1, "ping")["error"]
            #expect(first?["data"]?["kind"] == "not_signed_in", "\(String(describing: first))")
            #expect(first?["message"]?.stringValue?.contains("did not renew") == true)
            #expect(first?["data"]?["command"] == .string("authc login \(play.url) -s \(name)"))
            let second = try await bridge.ask(2, "ping")["error"]
            #expect(second?["data"]?["kind"] == "not_signed_in", "\(String(describing: second))")
            #expect(try await play.log("/mcp").dropFirst(before).allSatisfy { $0.authorization != nil })
        }
    }

    @Test("missing scopes: their names, and the command that grants them")
    func scopes() async throws {
        try await play(.resource, [#"{"required_scope": "write"}"#]) { play, bridge in
            try await play.signIn()
            let error = try await bridge.ask(1, "ping")["error"]
            #expect(error?["data"]?["missing_scopes"] == ["write"], "\(String(describing: error))")
            let command = "authc login \(play.url) -s 127.0.0.1-\(play.server.port) --scope read --scope write"
            #expect(error?["data"]?["command"] == .string(command))
        }
    }

    @Test("a server that cannot be reached is reported as that")
    func unreachable() async throws {
        try await Scene.play { scene in
            let bridge = try await HeldBridge("http://127.0.0.1:\(try FreePort.find())/mcp", on: scene.desktop)
            let error = try await bridge.ask(1, "ping")["error"]
            #expect(error?["data"]?["kind"] == "provider_unreachable" && error?["data"]?["command"] == nil)
            bridge.child.endInput()
            #expect(await bridge.child.ended() == 0)
        }
    }

    // MARK: The end

    @Test("a program may write all its messages at once and close the input: it gets every response")
    func script() async throws {
        try await play(.mcp, ["sessions", "open"]) { play, _ in
            let lines = [
                HeldBridge.initialize, HeldBridge.initialized,
                #"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
                #"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2}}}"#,
            ]
            let bridge = try await HeldBridge(
                play.url, on: play.scene.desktop, .text(lines.joined(separator: "\n") + "\n"))
            let output = await bridge.child.output()
            #expect(output.status == 0 && output.err.isEmpty, "\(output.err)")
            let answers = try output.out.split(separator: "\n").map { try JSON(parsing: String($0)) }
            #expect(Set(answers.compactMap { $0["id"]?.integerValue }) == [0, 1, 2])
        }
    }

    @Test("a signal ends it, and the session of the protocol", arguments: [SIGTERM, SIGINT])
    func signal(number: Int32) async throws {
        try await play(.mcp, ["sessions", "open"]) { play, bridge in
            _ = try await bridge.ask(HeldBridge.initialize)
            bridge.child.tell(HeldBridge.initialized)
            _ = try await bridge.ask(1, "ping")
            #expect(await bridge.child.end(number) == 128 + number)
            #expect(try await play.scene.get(play.server.url + "/requests").contains(#""method":"DELETE""#))
        }
    }

    @Test("a program that closes its end of the output ends it")
    func closedOutput() async throws {
        try await play(.mcp, ["sessions", "open"]) { play, _ in
            let line =
                "(printf '%s\\n' '\(HeldBridge.initialize)'; cat) | \(Programs.authc) mcp \(play.url) | head -c 1"
            let shell = try await Child(
                ["bash", "-c", line], environment: play.scene.desktop.environment, input: .held)
            #expect(await shell.out.wait(for: "{"))
            // The next response has no reader.
            shell.tell(#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)
            shell.tell(#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#)
            // The bridge has ended once nobody reads its input either.
            shell.endInput()
            #expect(await shell.ended() == 0)
        }
    }

    @Test("a wrong URL, option or session name is a usage error")
    func usage() async throws {
        try await Scene.play { scene in
            for words in [["http://example.org/mcp"], ["nonsense"], ["https://example.org/mcp", "-s", "a b"]] {
                let output = try await scene.authc(["mcp"] + words)
                #expect(output.status == 64 && output.out.isEmpty && !output.err.isEmpty, "\(output)")
            }
        }
    }
}

import AuthWire
import Foundation
import TestSupport
import Testing

/// `authc mcp URL` and servers that misbehave (a stand-in; its path says how).
@Suite("The bridge to MCP servers: hostile servers", .serialized, .timeLimit(.minutes(3)))
struct BridgeHostileTests {
    private func play(
        _ test: @escaping @Sendable (Scene, Peer) async throws -> Void
    ) async throws {
        try await Scene.play(keyring: false) { scene in
            try await Peer.running(.hostileMCP, in: scene.desktop) { server in try await test(scene, server) }
        }
    }

    @Test("each of them gets one clear error, and the bridge is ready for the next request")
    func errors() async throws {
        let paths = [
            "html", "no-type", "gzip", "huge-header", "many-headers", "endless-event", "endless-body", "cut",
            "redirect",
        ]
        try await play { scene, server in
            for path in paths {
                let bridge = try await HeldBridge(server.url + "/" + path, on: scene.desktop)
                for id in 1...2 {
                    let answer = try await bridge.ask(id, "ping")
                    let message = answer["error"]?["message"]?.stringValue ?? ""
                    #expect(answer["error"]?["code"] == -33000 && message.hasPrefix("authd: "), "\(path): \(answer)")
                    #expect(!message.contains("SECRET"), "\(path): \(message)")
                }
                let memory = try Self.residentMegabytes(of: bridge.child.pid)
                #expect(memory < 300, "\(path): \(memory) MiB")
                bridge.child.endInput()
                #expect(await bridge.child.ended() == 0, "\(path)")
            }
            // The redirect led to the same machine by another name.
            #expect(!(try await scene.get(server.url + "/log")).contains("/good"))
        }
    }

    private static func residentMegabytes(of pid: pid_t) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        guard let match = status.firstMatch(of: /VmRSS:\s+([0-9]+) kB/), let kilobytes = Int(match.1) else {
            throw Failure(status)
        }
        return kilobytes >> 10
    }

    @Test("a redirect within the origin is followed")
    func slash() async throws {
        try await play { scene, server in
            let bridge = try await HeldBridge(server.url + "/slash", on: scene.desktop)
            #expect(try await bridge.ask(1, "ping")["result"] != nil)
            await bridge.child.end()
        }
    }

    @Test("a server that sends much waits for the program that reads it")
    func flood() async throws {
        try await play { scene, server in
            let bridge = try await HeldBridge(server.url + "/flood", on: scene.desktop)
            #expect(try await bridge.ask(1, "ping")["result"] != nil)
            #expect(bridge.child.out.text.components(separatedBy: "notifications/x").count == 1001)
            await bridge.child.end()
        }
    }

    @Test("a server that never answers delays neither other requests nor the end", arguments: [true, false])
    func silent(byEnd: Bool) async throws {
        try await play { scene, server in
            let bridge = try await HeldBridge(server.url + "/silent", on: scene.desktop)
            bridge.child.tell(#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)
            // A line that is refused at once.
            bridge.child.tell("{")
            #expect(await bridge.child.out.wait(for: "-32700"))
            if byEnd { bridge.child.endInput() } else { bridge.child.kill(SIGTERM) }
            #expect(await bridge.child.ended() == (byEnd ? 0 : 128 + SIGTERM))
        }
    }

    @Test("a program that does not read standard error delays neither requests nor the end")
    func unreadNotes() async throws {
        // A pipe that is full, and that nobody reads.
        let script =
            #"f=$(mktemp -u) && mkfifo "$f" && exec 3<>"$f" && rm "$f" && "#
            + #"head -c 65536 /dev/zero >&3 && exec "$@" 2>&3"#
        try await play { scene, server in
            let child = try await Child(
                ["/bin/sh", "-c", script, "sh", Programs.authc, "mcp", server.url + "/html"],
                environment: scene.desktop.environment, input: .held)
            for id in 1...3 { child.tell(#"{"jsonrpc":"2.0","id":\#(id),"method":"ping"}"#) }
            #expect(await child.out.wait(for: "-33000", times: 3))
            child.kill(SIGTERM)
            #expect(await child.ended() == 128 + SIGTERM)
        }
    }

    @Test("2026-07-28: a cancelled request closes its connection, and its notification is not sent")
    func cancelled() async throws {
        try await play { scene, server in
            let bridge = try await HeldBridge(server.url + "/waiting", on: scene.desktop)
            let meta = #"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#
            bridge.child.tell(#"{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":\#(meta)}"#)
            #expect(await bridge.child.out.wait(for: "notifications/begun"))
            bridge.child.tell(#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#)
            while !(try await scene.get(server.url + "/log")).contains("CLOSED") { try Task.checkCancellation() }
            let posts = try await scene.get(server.url + "/log").components(separatedBy: "POST").count - 1
            #expect(posts == 1)
            await bridge.child.end()
        }
    }

    @Test("a response that takes longer than --timeout to begin is an error")
    func timeout() async throws {
        try await play { scene, server in
            let bridge = try await HeldBridge(server.url + "/silent", ["--timeout", "200ms"], on: scene.desktop)
            #expect(try await bridge.ask(1, "ping")["error"]?["data"]?["kind"] == "timeout")
            await bridge.child.end()
        }
    }
}

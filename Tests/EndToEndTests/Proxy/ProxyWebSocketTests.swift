import AuthWire
import Foundation
import TestSupport
import Testing

/// Handshakes of WebSockets that do not go as usual, with the library websockets at both ends where they are valid at all.
@Suite("The proxy of a session and unusual WebSockets", .serialized, .timeLimit(.minutes(2)))
struct ProxyWebSocketTests {
    private static func handshake(_ path: String, _ more: String = "") -> String {
        "GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\(more)\r\n"
    }

    /// What a client of few words gets until the end of the connection.
    private func answer(_ text: String, _ proxy: ProxyAddress) async throws -> String {
        let path = try #require(proxy.path)
        return try await onThread {
            let client = try RawClient(path)
            try client.send(text)
            return try client.rest()
        }
    }

    @Test("messages that both sides send with the handshake arrive")
    func early() async throws {
        try await ProxyScene.play(at: .unusualWebSockets) { play in
            try await play.proxy { proxy in
                let client = try Peer.Program.earlyWebSocket.command(["ws://localhost/early", #require(proxy.path)])
                let output = try await proxy.desktop.run(client)
                #expect(output.out == "status 101, hello, early\n", "\(output)")
            }
        }
    }

    @Test("a switch to a protocol that was not requested is a 502, with and without a handshake")
    func otherProtocol() async throws {
        try await ProxyScene.play(at: .unusualWebSockets) { play in
            try await play.proxy { proxy in
                for request in [
                    Self.handshake("/other"), "GET /unrequested HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
                ] {
                    let answer = try await answer(request, proxy)
                    #expect(answer.hasPrefix("HTTP/1.1 502 ") && answer.contains("was not requested"), "\(answer)")
                    #expect(!answer.contains(" 101 "), "\(answer)")
                }
                #expect(try await paths(play) == ["/login", "/other", "/unrequested"])
            }
        }
    }

    @Test("a server that does not answer the handshake is a 504 after the time limit")
    func silent() async throws {
        try await ProxyScene.play(at: .unusualWebSockets) { play in
            try await play.proxy(["--timeout", "200ms"]) { proxy in
                let answer = try await answer(Self.handshake("/stuck"), proxy)
                #expect(answer.hasPrefix("HTTP/1.1 504 ") && answer.contains(#""kind":"timeout""#), "\(answer)")
                #expect(try await paths(play) == ["/login", "/stuck"])
            }
        }
    }

    @Test(
        "a handshake with a body is refused, and not sent",
        arguments: ["Content-Length: 3", "Transfer-Encoding: chunked"])
    func body(field: String) async throws {
        try await ProxyScene.play(at: .unusualWebSockets) { play in
            try await play.proxy { proxy in
                let body = field.hasPrefix("C") ? "abc" : "3\r\nabc\r\n0\r\n\r\n"
                let answer = try await answer(Self.handshake("/early", field + "\r\n") + body, proxy)
                #expect(answer.hasPrefix("HTTP/1.1 400 ") && answer.contains("has a body"), "\(answer)")
                #expect(try await paths(play) == ["/login"])
            }
        }
    }

    private func paths(_ play: ProxyScene) async throws -> [String] {
        try JSONDecoder().decode([String].self, from: Data(try await play.scene.get(play.server.url + "/log").utf8))
    }
}

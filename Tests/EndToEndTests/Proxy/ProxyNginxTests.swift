import AuthWire
import Foundation
import TestSupport
import Testing

/// `authc proxy` with nginx as the server: TLS, HTTP/2, and what nginx itself does as a proxy.
@Suite("The proxy of a session and nginx", .serialized, .timeLimit(.minutes(3)))
struct ProxyNginxTests {
    private static func server(_ listen: String, _ upstream: String) -> String {
        """
        map $http_upgrade $connection_field { default upgrade; '' ''; }
        server {
            listen LISTEN \(listen);
            ssl_certificate FOLDER/cert.pem; ssl_certificate_key FOLDER/key.pem;
            client_max_body_size 0;
            location /moved { absolute_redirect on; return 301 /elsewhere; }
            location / {
                proxy_pass \(upstream); proxy_http_version 1.1; proxy_request_buffering off; proxy_buffering off;
                proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $connection_field;
            }
        }
        """
    }

    @Test("over TLS: requests and events are HTTP/2; long bodies and a WebSocket have separate connections")
    func secure() async throws {
        try await Scene.play { scene in
            try await Peer.running(.proxied, in: scene.desktop) { server in
                try await Nginx.running(Self.server("ssl http2", server.url), in: scene.desktop) { nginx in
                    let trust = ["SSL_CERT_FILE": nginx.certificate]
                    try await scene.restart(with: trust)
                    let url = "https://localhost:\(nginx.port)"
                    try await scene.addProfile(ProxyScene.profile(url), named: "api")
                    try await ProxyScene.signIn(scene)
                    let play = ProxyScene(scene: scene, server: server)
                    try await play.proxy(with: trust) { proxy in
                        #expect(try await proxy.json("/a")["target"] == "/a")
                        try await play.tell("/expire")
                        let file = try scene.desktop.folder.write(String(repeating: "x", count: 5_000_000), to: "body")
                        #expect(try await proxy.json("/b", ["-d", "short"])["bytes"] == 5)
                        #expect(try await proxy.json("/up", ["--upload-file", file])["bytes"] == 5_000_000)
                        #expect(try await proxy.curl("/moved").contains("\r\nlocation: /elsewhere\r\n"))
                        let down = try await proxy.curl("/long?mib=8", ["--output", "/dev/null"])
                        #expect(down.isEmpty)
                        let events = try await Child(
                            [
                                "curl", "--silent", "--no-buffer", "--unix-socket", try #require(proxy.path),
                                "http://localhost/events",
                            ],
                            environment: scene.desktop.environment)
                        #expect(await events.out.wait(for: "data: 1\r\n"))
                        #expect(!events.out.text.contains("second"))
                        try await play.tell("/go")
                        #expect(await events.output().out.contains("event: second"))
                        let socket = try await scene.desktop.run(
                            Peer.Program.webSocket.command(["ws://localhost/ws", try #require(proxy.path), "-"]))
                        #expect(socket.out.contains("3145728 same") && socket.out.contains("protocol chat"))
                        // nginx writes the line of a WebSocket when its connection ends.
                        #expect(
                            try await until {
                                _ = try await play.log()
                                return try nginx.requests().contains("HTTP/1.1 GET /ws 101")
                            })
                        let requests = try nginx.requests()
                        for line in [
                            "HTTP/2.0 GET /a 200", "HTTP/2.0 POST /b 401", "HTTP/2.0 POST /b 200",
                            "HTTP/1.1 PUT /up 200", "HTTP/2.0 GET /events 200",
                        ] {
                            #expect(requests.contains(line), "\(line): \(requests)")
                        }
                    }
                    // The certificate is checked for the WebSocket, too.
                    try await play.proxy { proxy in
                        let refused = try await proxy.curl("/a")
                        #expect(refused.hasPrefix("HTTP/1.1 502") && refused.contains("certificate"), "\(refused)")
                        let socket = try await scene.desktop.run(
                            Peer.Program.webSocket.command(["ws://localhost/ws", try #require(proxy.path), "-"]))
                        #expect(socket.out == "status 502\n", "\(socket.out)\(socket.err)")
                    }
                }
            }
        }
    }

    @Test("what nginx passes on as a proxy, authd passes on, too")
    func compared() async throws {
        try await ProxyScene.play { play in
            try await Nginx.running(Self.server("", play.server.url), in: play.scene.desktop) { nginx in
                try await play.proxy { proxy in
                    for options in [
                        ["-X", "PATCH", "-d", "a=b"], ["-X", "DELETE"], ["--head"], ["-X", "OPTIONS"],
                        ["-H", "Accept-Encoding: br", "-H", "Range: bytes=0-1"],
                        ["-H", "Transfer-Encoding: chunked", "-d", "abc"], ["--http1.0"],
                        ["-H", "X-Two: 1", "-H", "X-Two: 2", "-H", "Cookie: a=b; c=d"],
                    ] {
                        let ours = try await proxy.curl("/a%2F../b?x", ["--path-as-is"] + options)
                        let token = ["-H", "Authorization: Bearer token-secret-1", "--path-as-is"]
                        let theirs = try await play.scene.desktop.run(
                            ["curl", "--silent", "--include", "--noproxy", "*"] + token + options
                                + ["http://127.0.0.1:\(nginx.port)/a%2F../b?x"])
                        #expect(
                            Self.comparable(ours) == Self.comparable(theirs.out), "\(options): \(ours)\(theirs.out)")
                    }
                    // nginx passes on what no URL has, which servers may refuse.
                    let encoded = try await proxy.json("/a|b%2F^?c={d}", ["--globoff"])
                    #expect(encoded["target"] == "/a%7Cb%2F%5E?c=%7Bd%7D")
                    let none = try await proxy.curl("/empty")
                    #expect(none.hasPrefix("HTTP/1.1 204") && !none.lowercased().contains("transfer-encoding"))
                }
            }
        }
    }

    /// The status, and what the server received, without what differs between any two proxies.
    private static func comparable(_ text: String) -> [String] {
        let status = text.split(separator: "\r\n").first.map(String.init) ?? ""
        guard let start = text.range(of: "\r\n\r\n{"), let json = try? JSON(parsing: "{" + text[start.upperBound...])
        else {
            return [status, text.contains("x-kept: yes") ? "kept" : "lost"]
        }
        let own: Set = ["host", "connection", "authorization", "content-length", "transfer-encoding"]
        let fields = (json["fields"]?.arrayValue ?? []).map { ($0.arrayValue ?? []).compactMap(\.stringValue) }
        let shown = fields.filter { !own.contains($0[0]) }.map { $0.joined(separator: ": ") }.sorted()
        return [
            status, json["method"]?.stringValue ?? "", json["target"]?.stringValue ?? "",
            json["sha256"]?.stringValue ?? "",
        ] + shown
    }
}

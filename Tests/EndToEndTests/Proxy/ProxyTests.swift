import AuthWire
import Foundation
import TestSupport
import Testing

/// `authc proxy` between curl or websockets and a server of uvicorn.
@Suite("The proxy of a session", .serialized, .timeLimit(.minutes(3)))
struct ProxyTests {
    @Test("on a Unix socket: the request arrives as it was sent, with the session's token and no other")
    func unix() async throws {
        try await ProxyScene.play { play in
            try await play.proxy { proxy in
                let path = try #require(proxy.path)
                #expect(path.hasSuffix("/authd-proxy/work"))
                #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
                let options = ["-H", "Authorization: Bearer mine", "-H", "TE: trailers", "-H", "X-Own: a", "-d", "abc"]
                let echo = try await proxy.json("/a%2Fb//c?x=%20&y", options)
                #expect(echo["target"] == "/a%2Fb//c?x=%20&y" && echo["bytes"] == 3)
                let fields = try #require(echo["fields"]?.arrayValue).map {
                    ($0.arrayValue ?? []).compactMap(\.stringValue)
                }
                #expect(fields.contains(["authorization", "Bearer token-secret-1"]), "\(fields)")
                #expect(fields.filter { $0.first == "authorization" }.count == 1 && !fields.contains { $0[0] == "te" })
                #expect(fields.contains(["x-own", "a"]))
                let response = try await proxy.curl("/a")
                #expect(response.contains("x-kept: yes") && !response.lowercased().contains("keep-alive: timeout"))
                #expect(!proxy.child.err.text.contains("token-secret"))
            }
        }
    }

    @Test("on a port: the printed URL is the API's, and nothing is served without its key, or to a web page")
    func port() async throws {
        try await ProxyScene.play { play in
            try await play.proxy(["--listen", "127.0.0.1:0"]) { proxy in
                let parts = try #require(
                    proxy.text.wholeMatch(of: /(http:\/\/127\.0\.0\.1:[0-9]+)\/([A-Za-z0-9_-]{43})/))
                #expect(try await proxy.json("/v1")["target"] == "/v1")
                func status(_ url: String, _ options: [String] = []) async throws -> String {
                    let output = try await proxy.desktop.run(
                        ["curl", "--silent", "--include", "--noproxy", "*"] + options + [url])
                    return String(output.out.prefix(12))
                }
                let (base, key) = (String(parts.1), String(parts.2))
                #expect(try await status(base + "/v1") == "HTTP/1.1 403")
                #expect(try await status(base + "/v1", ["-H", "Authd-Key: \(key)"]) == "HTTP/1.1 200")
                #expect(try await status(proxy.url("/v1"), ["-H", "Host: evil.example"]) == "HTTP/1.1 421")
                #expect(try await status(proxy.url("/v1"), ["-H", "Origin: https://evil.example"]) == "HTTP/1.1 403")
                let elsewhere = ["--request-target", "http://other.example/\(key)/v1"]
                #expect(try await status(proxy.url("/v1"), elsewhere) == "HTTP/1.1 421")
                #expect(
                    try await status(base, ["--request-target", "other.example:443", "-X", "CONNECT"]) == "HTTP/1.1 405"
                )
                // The key is no business of the server, nor of the process list.
                #expect(try await play.log().allSatisfy { !$0.joined().contains(key) })
                let arguments = try String(contentsOfFile: "/proc/\(proxy.child.pid)/cmdline", encoding: .utf8)
                #expect(arguments.contains("proxy") && !arguments.contains(key))
                // An address of the server becomes one of the proxy, and nothing is followed.
                let away = try await proxy.curl("/away?to=OWN/v1")
                #expect(away.contains("302") && away.contains("location: /\(key)/v1\r\n"), "\(away)")
                #expect(
                    try await proxy.curl("/away?to=https://other.example/").contains("location: https://other.example/")
                )
            }
        }
    }

    @Test("a page that was allowed is served, and the server gets its Origin, but not the key of the port")
    func pages() async throws {
        try await ProxyScene.play { play in
            try await play.proxy(["--listen", "127.0.0.1:0", "--allow-origin", "https://App.example:443"]) { proxy in
                let key = try #require(proxy.text.split(separator: "/").last)
                let echo = try await proxy.json(
                    "/v1",
                    [
                        "-H", "Origin: https://app.example", "-H", "Sec-Fetch-Site: cross-site",
                        "-H", "Referer: \(proxy.url("/page"))", "-H", "Authd-Key: \(key)",
                    ])
                let fields = try #require(echo["fields"]?.arrayValue).map {
                    ($0.arrayValue ?? []).compactMap(\.stringValue)
                }
                #expect(fields.contains(["origin", "https://app.example"]), "\(fields)")
                #expect(fields.contains(["referer", play.server.url + "/"]), "\(fields)")
                #expect(!fields.joined().contains { $0.contains(key) }, "\(fields)")
            }
        }
    }

    @Test("with a key file, the URL of a port stays the same, and the journal of a service does not get the key")
    func keyFile() async throws {
        try await ProxyScene.play { play in
            let key = "0123456789abcdefghijkl"
            let file = try play.scene.desktop.folder.write(key + "\n", to: "key")
            let port = try FreePort.find()
            let options = ["--listen", "127.0.0.1:\(port)", "--key-file", file]
            chmod(file, 0o644)
            let open = try await play.scene.desktop.run(ProxyScene.command(options))
            #expect(open.status == 78 && open.err.contains("chmod 600"), "\(open.err)")
            chmod(file, 0o600)
            let url = "http://127.0.0.1:\(port)/"
            let printed = try await play.scene.desktop.run(ProxyScene.command(options + ["--url"]))
            #expect(printed.status == 0 && printed.out == url + key + "\n", "\(printed.err)")
            try await play.proxy(options) { proxy in
                #expect(proxy.text == url + key)
                let echo = try await proxy.json("/v1")
                #expect(echo["target"] == "/v1")
            }
            try await play.proxy(options, by: ProxyScene.asService) { proxy in
                #expect(proxy.text == url + "KEY")
                let echo = try await play.scene.get(url + key + "/v1")
                #expect(echo.contains(#""target":"/v1""#), "\(echo)")
                #expect(!proxy.child.err.text.contains(key))
            }
        }
    }

    @Test(
        "if the proxy cannot be started, it has the exit status of the contract",
        arguments: [
            (64, ["--url", "--listen", "127.0.0.1:0"]), (64, ["--url", "--listen", "127.0.0.1:8080"]),
            (64, ["--allow-origin", "null"]), (64, ["--allow-origin", "https://app.example/page"]),
            (64, ["-s", "other"]), (69, ["--socket", "/run/nobody-listens"]),
        ])
    func statuses(status: Int, options: [String]) async throws {
        try await ProxyScene.play { play in
            let output = try await play.scene.authc(["proxy", "-s", "work"] + options)
            #expect(Int(output.status) == status && output.out.isEmpty, "\(output.status) \(output.err)")
        }
    }

    @Test("a service with a port needs a key file: no program would learn a random key")
    func serviceWithoutKey() async throws {
        try await ProxyScene.play { play in
            let command = ProxyScene.asService + ProxyScene.command(["--listen", "127.0.0.1:0"])
            let output = try await play.scene.desktop.run(command)
            #expect(output.status == 78 && output.err.contains("--key-file"), "\(output.err)")
        }
    }

    @Test("a refused token is renewed once, and the request sent again if its body is short")
    func renewal() async throws {
        try await ProxyScene.play { play in
            try await play.proxy { proxy in
                try await play.tell("/expire")
                #expect(try await proxy.json("/b", ["-d", "short"])["bytes"] == 5)
                #expect(
                    try await play.log().suffix(2) == [
                        ["POST", "/b", "Bearer token-secret-1"], ["POST", "/b", "Bearer token-secret-2"],
                    ])
            }
        }
    }

    @Test("a long body is not kept: its client gets the 401, and the next request has another token")
    func longBody() async throws {
        try await ProxyScene.play { play in
            try await play.proxy { proxy in
                try await play.tell("/expire")
                let file = try play.scene.desktop.folder.write(String(repeating: "x", count: 100_000), to: "body")
                #expect(try await proxy.curl("/c", ["--data-binary", "@" + file]).contains("HTTP/1.1 401"))
                #expect(
                    try await until { try await proxy.json("/c", ["--data-binary", "@" + file])["bytes"] == 100_000 })
            }
        }
    }

    @Test("a signed-out session gets 401 with the command that signs in; a server that is gone 502, a slow one 504")
    func problems() async throws {
        try await ProxyScene.play { play in
            try await play.proxy(["--timeout", "200ms"]) { proxy in
                // Neither begins a response for the client.
                for path in ["/never", "/stuck"] {
                    let slow = try await proxy.curl(path)
                    #expect(slow.hasPrefix("HTTP/1.1 504"), "\(slow)")
                }
            }
            try await play.proxy { proxy in
                let broken = try await proxy.desktop.run(
                    ["curl", "--silent", "--unix-socket", try #require(proxy.path), "http://localhost/broken"])
                #expect(broken.status == 18 && broken.out == "begun")
                _ = try await play.scene.authc(["logout", "-s", "work"])
                let problem = try await proxy.curl("/a")
                #expect(problem.hasPrefix("HTTP/1.1 401") && problem.contains("application/problem+json"), "\(problem)")
                #expect(problem.contains("authc login"), "\(problem)")
                try await ProxyScene.signIn(play.scene)
                #expect(try await proxy.curl("/a").hasPrefix("HTTP/1.1 200"))
                play.server.end()
                #expect(try await until { try await proxy.curl("/a").hasPrefix("HTTP/1.1 502") })
            }
        }
    }

    @Test("a session's token goes to its own server only, whatever --to says")
    func otherServer() async throws {
        try await ProxyScene.play { play in
            try await play.proxy(["--to", "https://other.example/"]) { proxy in
                let problem = try await proxy.curl("/a")
                #expect(problem.hasPrefix("HTTP/1.1 403") && problem.contains(#""kind":"denied""#), "\(problem)")
            }
        }
    }

    @Test("events and pieces of both bodies are passed on while they arrive")
    func streams() async throws {
        try await ProxyScene.play { play in
            try await play.proxy { proxy in
                let path = try #require(proxy.path)
                let events = try await Child(
                    ["curl", "--silent", "--no-buffer", "--unix-socket", path, "http://localhost/events"],
                    environment: proxy.desktop.environment)
                #expect(await events.out.wait(for: "data: 1\r\n"))
                #expect(!events.out.text.contains("second"))
                try await play.tell("/go")
                #expect(await events.output().out.contains("event: second"))

                let answers = try await onThread {
                    let client = try RawClient(path)
                    try client.send("POST /both HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
                    var lines: [String] = []
                    for piece in ["one\n", "two\n"] {
                        try client.send("4\r\n\(piece)\r\n")
                        while let line = try client.line() {
                            lines.append(line)
                            if line == piece.uppercased().dropLast() { break }
                        }
                    }
                    try client.send("0\r\n\r\n")
                    return lines
                }
                #expect(answers.contains("ONE") && answers.last == "TWO", "\(answers)")
            }
        }
    }

    @Test(
        "a WebSocket of the library websockets, with its token renewed first",
        arguments: [[], ["--listen", "127.0.0.1:0"]])
    func webSocket(options: [String]) async throws {
        try await ProxyScene.play { play in
            try await play.proxy(options) { proxy in
                func run(_ target: String, origin: String = "-") async throws -> Child.Output {
                    let url = proxy.url(target).replacing("http://", with: "ws://")
                    return try await proxy.desktop.run(
                        Peer.Program.webSocket.command([url, proxy.path ?? "-", origin]))
                }
                try await play.tell("/expire")
                let output = try await run("/ws")
                let sizes = ["0", "5", "125", "126", "70000", "3145728"].map { $0 + " same" }
                #expect(
                    output.out.split(separator: "\n").map(String.init) == sizes + ["protocol chat"],
                    "\(output.out)\(output.err)")
                #expect(
                    try await play.log() == [
                        ["WEBSOCKET", "/ws", "Bearer token-secret-1"], ["WEBSOCKET", "/ws", "Bearer token-secret-2"],
                    ])
                let other = try await run("/a").out
                #expect(other.hasPrefix("status ") && !other.contains("101"), "\(other)")
                #expect(try await run("/ws", origin: "https://evil.example").out == "status 403\n")
            }
        }
    }

    @Test("a client that stops sending gets 408, one that stops reading is disconnected, and a huge header gets 431")
    func slowClients() async throws {
        try await ProxyScene.play { play in
            try await play.gateway(["--client-timeout-ms", "300"]) { proxy in
                let path = try #require(proxy.path)
                let slow = try await onThread {
                    let client = try RawClient(path)
                    try client.send("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc")
                    return try client.rest()
                }
                #expect(slow.hasPrefix("HTTP/1.1 408 "), "\(slow)")
                let huge = try await proxy.curl("/a", ["-H", "X-A: " + String(repeating: "a", count: 70_000)])
                #expect(huge.hasPrefix("HTTP/1.1 431"))
                // It does not read: the system's buffers are full long before 64 MiB.
                let client = try RawClient(path)
                try client.send("GET /long?mib=64 HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(
                    try await until {
                        _ = try await proxy.curl("/empty")
                        return client.isHungUp
                    })
            }
        }
    }

    /// RSS stays below the limit while the bytes that went through are several times as many.
    @Test("a client that shuts down its side after the request gets the response, as with nc -N")
    func halfClosed() async throws {
        try await ProxyScene.play { play in
            try await play.proxy { proxy in
                let path = try #require(proxy.path)
                for body in ["", "abc"] {
                    let response = try await onThread {
                        let client = try RawClient(path)
                        try client.send(
                            "POST /half HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                        )
                        client.endWriting()
                        return try client.rest()
                    }
                    #expect(response.hasPrefix("HTTP/1.1 200 ") && response.contains("/half"), "\(response)")
                    #expect(response.lowercased().contains("connection: close"), "\(response)")
                }
            }
        }
    }

    @Test("200 MiB down and 200 MiB up go through in bounded memory")
    func memory() async throws {
        try await ProxyScene.play { play in
            try await play.proxy { proxy in
                let path = try #require(proxy.path)
                let file = play.scene.desktop.folder.path + "/long"
                #expect(FileManager.default.createFile(atPath: file, contents: nil))
                truncate(file, 200 << 20)
                _ = try await proxy.curl("/a")
                let before = try Self.memory("VmRSS", of: proxy.child.pid)
                let down = try await proxy.desktop.run([
                    "curl", "--silent", "--unix-socket", path, "--output", "/dev/null", "--write-out",
                    "%{http_code} %{size_download}", "http://localhost/long?mib=200",
                ])
                #expect(down.out == "200 \(200 << 20)")
                let up = try await proxy.json("/up", ["--upload-file", file])
                #expect(up["bytes"] == .integer(200 << 20))
                let after = try Self.memory("VmHWM", of: proxy.child.pid)
                #expect(after - before < 32 << 10, "\(before) KiB, then \(after) KiB")
            }
        }
    }

    /// In KiB (proc_pid_status(5)).
    private static func memory(_ field: String, of pid: pid_t) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix(field + ":") }),
            let number = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) })
        else { throw Failure(status) }
        return number
    }

    @Test("the recipes: a Unix socket, and a port whose URL has a key")
    func recipes() async throws {
        try await ProxyScene.play { play in
            let path = ["PATH": Programs.folder + ":/usr/bin:/bin"]
            func start(_ line: String) async throws -> Child {
                let command = ["sh", "-c", "exec " + (try Recipes.block(with: line))]
                return try await Child(command, environment: play.scene.desktop.environment.merging(path) { $1 })
            }
            let proxy = try await start("authc proxy -s work")
            #expect(await proxy.out.wait(for: "\n"))
            let items = ["sh", "-c", try Recipes.block(with: "curl --unix-socket")]
            let output = try await play.scene.desktop.run(items, with: path)
            #expect(output.out.contains(#""target":"/v1/items""#), "\(output.out)\(output.err)")
            #expect(await proxy.end() == 0)
            let port = try await start("authc proxy -s work --listen")
            #expect(await port.out.wait(for: "\n"))
            #expect(try await play.scene.get(port.out.text.trimmingCharacters(in: .newlines) + "/v1").contains("/v1"))
            #expect(await port.end() == 0)
        }
    }

    @Test("SIGTERM lets a response in progress end, and removes the socket")
    func ends() async throws {
        try await ProxyScene.play { play in
            try await play.proxy { proxy in
                let path = try #require(proxy.path)
                let events = try await Child(
                    ["curl", "--silent", "--no-buffer", "--unix-socket", path, "http://localhost/events"],
                    environment: proxy.desktop.environment)
                #expect(await events.out.wait(for: "data: 1\r\n"))
                proxy.child.kill(SIGTERM)
                #expect(
                    try await until {
                        _ = try await play.log()
                        return !FileManager.default.fileExists(atPath: path)
                    })
                try await play.tell("/go")
                let output = await events.output()
                #expect(output.status == 0 && output.out.contains("event: second"))
                #expect(await proxy.child.ended() == 0)
            }
        }
    }
}

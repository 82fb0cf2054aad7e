import AuthHTTP
import AuthModel
import Testing

@Suite struct ExchangeTests {
    @Test func `status, headers and body pass through in both directions`() async throws {
        let answer = "HTTP/1.1 418 Teapot\r\nX-One: a\r\nx-one: b\r\nContent-Length: 5\r\n\r\nshort"
        let script: LoopbackServer.Script = { try await $0.answerAll(answer) }
        try await LoopbackServer.with(script: script) { server in
            try await withTransport { transport in
                let reply = try await transport.send(
                    HTTPRequest(
                        method: "POST", url: server.url + "/a/b?c=d%20e",
                        headers: [HTTPField("Authorization", "Bearer t"), HTTPField("Content-Type", "text/plain")],
                        body: Secret("the body")))
                #expect(reply.status == 418)
                #expect(reply.headers.filter { $0.name.lowercased() == "x-one" }.map(\.value) == ["a", "b"])
                #expect(reply.text == "short")
                let seen = try #require(server.requests.first)
                #expect(seen.method == "POST")
                #expect(seen.target == "/a/b?c=d%20e")
                #expect(seen.header("authorization") == "Bearer t")
                #expect(seen.body == "the body")
                #expect(seen.header("user-agent") == "authd/1.2.3")
                #expect(server.requests.count == 1)
            }
        }
    }

    @Test func `every status is an answer`() async throws {
        for status in [204, 304, 401, 429, 500, 503] {
            let answer = "HTTP/1.1 \(status) X\r\nContent-Length: 0\r\n\r\n"
            let script: LoopbackServer.Script = { try await $0.answerAll(answer) }
            try await LoopbackServer.with(script: script) { server in
                try await withTransport { transport in
                    let reply = try await transport.get(server.url)
                    #expect(reply.status == status)
                }
            }
        }
    }

    @Test func `a compressed body is returned decompressed, without the headers of its compressed form`()
        async throws
    {
        let body = try await gzip(Array("plain words".utf8))
        let script: LoopbackServer.Script = { connection in
            while let request = await connection.request() {
                #expect(request.header("accept-encoding") == "gzip, deflate")
                try await connection.write(
                    "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(body.count)\r\n\r\n")
                try await connection.write(body)
            }
        }
        try await LoopbackServer.with(script: script) { server in
            try await withTransport { transport in
                let reply = try await transport.get(server.url)
                #expect(reply.text == "plain words")
                #expect(reply.header("content-encoding") == nil)
                #expect(reply.header("content-length") == nil)
            }
        }
    }

    @Test(arguments: [
        "ftp://example.org/", "no address", "http:///path", "http://ada:secret@example.org/", "http://example.org:0/",
    ])
    func `an address that cannot be asked is told apart, and its text is not repeated`(url: String) async throws {
        try await withTransport { transport in
            guard case .badURL(let reason) = await transport.failure(url) else {
                Issue.record("not refused: \(url)")
                return
            }
            #expect(!reason.contains("secret"))
        }
    }

    @Test func `a header that cannot be sent is refused without repeating its value`() async throws {
        try await LoopbackServer.with { server in
            try await withTransport { transport in
                let header = HTTPField("Authorization", "Bearer top\r\nsecret")
                guard case .badURL(let reason) = await transport.failure(server.url, headers: [header]) else {
                    Issue.record("not refused")
                    return
                }
                #expect(!reason.contains("secret"))
                #expect(server.requests.isEmpty)
            }
        }
    }

    @Test func `connections are used again, until they are dropped`() async throws {
        try await LoopbackServer.with { server in
            try await withTransport { transport in
                _ = try await transport.get(server.url)
                _ = try await transport.get(server.url)
                #expect(server.accepted == 1)
                await transport.closeIdleConnections()
                _ = try await transport.get(server.url)
                #expect(server.accepted == 2)
                _ = try await transport.get(server.url)
                #expect(server.accepted == 2)
            }
        }
    }

    @Test func `a request that closes its connection may use an open one, and is the last on it`() async throws {
        let (closed, close) = AsyncStream.makeStream(of: Void.self)
        let script: LoopbackServer.Script = { connection in
            while let request = await connection.request() {
                #expect(request.header("connection") == (request.target == "/last" ? "close" : nil))
                try await connection.write(LoopbackConnection.empty)
            }
            close.yield()
        }
        try await LoopbackServer.with(script: script) { server in
            try await withTransport { transport in
                _ = try await transport.get(server.url + "/first")
                let last = HTTPRequest(method: "GET", url: server.url + "/last").closingConnection()
                #expect(try await transport.send(last).text == "{}")
                // The client closes it: this server would wait for more.
                for await _ in closed { break }
                #expect(server.accepted == 1)
                _ = try await transport.get(server.url + "/next")
                #expect(server.accepted == 2)
            }
        }
    }

    @Test func `closing the connections to one origin leaves those to another alone`() async throws {
        try await LoopbackServer.with { here in
            try await LoopbackServer.with { elsewhere in
                try await withTransport { transport in
                    for server in [here, elsewhere] { _ = try await transport.get(server.url) }
                    let origin = try #require(Origin(of: here.url + "/path?query"))
                    await transport.closeIdleConnections(to: [origin])
                    for server in [here, elsewhere] { _ = try await transport.get(server.url) }
                    #expect(here.accepted == 2)
                    #expect(elsewhere.accepted == 1)
                }
            }
        }
    }

    @Test func `a request in flight keeps its connection when those to its origin are closed`() async throws {
        let (arrived, hasArrived) = AsyncStream.makeStream(of: Void.self)
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        let script: LoopbackServer.Script = { connection in
            while let request = await connection.request() {
                if request.target == "/slow" {
                    hasArrived.yield()
                    for await _ in released { break }
                }
                try await connection.write(LoopbackConnection.empty)
            }
        }
        try await LoopbackServer.with(script: script) { server in
            try await withTransport { transport in
                let origin = try #require(Origin(of: server.url))
                async let slow = transport.get(server.url + "/slow")
                for await _ in arrived { break }
                await transport.closeIdleConnections(to: [origin])
                _ = try await transport.get(server.url + "/quick")
                release.yield()
                #expect(try await slow.text == "{}")
                #expect(server.accepted == 2)
                await transport.closeIdleConnections(to: [origin])
                _ = try await transport.get(server.url)
                #expect(server.accepted == 3)
            }
        }
    }

    @Test func `a request in flight keeps its connection when others are closed`() async throws {
        let (arrived, hasArrived) = AsyncStream.makeStream(of: Void.self)
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        let script: LoopbackServer.Script = { connection in
            while let request = await connection.request() {
                if request.target == "/slow" {
                    hasArrived.yield()
                    for await _ in released { break }
                }
                try await connection.write(LoopbackConnection.empty)
            }
        }
        try await LoopbackServer.with(script: script) { server in
            try await withTransport { transport in
                async let slow = transport.get(server.url + "/slow")
                for await _ in arrived { break }
                await transport.closeIdleConnections()
                let quick = try await transport.get(server.url + "/quick")
                #expect(quick.text == "{}")
                release.yield()
                let reply = try await slow
                #expect(reply.text == "{}")
                #expect(server.accepted == 2)
            }
        }
    }

    @Test func `cancelling the caller ends the request and its connection at once`() async throws {
        let (arrived, hasArrived) = AsyncStream.makeStream(of: Void.self)
        let (gone, hasGone) = AsyncStream.makeStream(of: Void.self)
        let script: LoopbackServer.Script = { connection in
            _ = await connection.request()
            hasArrived.yield()
            defer { hasGone.yield() }
            await connection.silence()
        }
        try await LoopbackServer.with(script: script) { server in
            try await withTransport { transport in
                await withTaskGroup(of: TransportError?.self) { group in
                    group.addTask { await transport.failure(server.url) }
                    for await _ in arrived { break }
                    group.cancelAll()
                    #expect(await group.next() == .cancelled)
                }
                for await _ in gone { break }
            }
        }
    }

    @Test func `after shutdown every request is refused`() async throws {
        try await LoopbackServer.with { server in
            try await withTransport { transport in
                _ = try await transport.get(server.url)
                await transport.shutdown()
                #expect(await transport.failure(server.url) == .cancelled)
            }
        }
    }
}

import AuthHTTP
import AuthModel
import Testing

@Suite struct RedirectTests {
    private static func redirect(_ status: Int = 302, to location: String) -> String {
        "HTTP/1.1 \(status) Moved\r\nLocation: \(location)\r\nContent-Length: 4\r\n\r\ngone"
    }

    /// Redirects `/` and answers everything else.
    private static func script(_ status: Int = 302, to location: String) -> LoopbackServer.Script {
        { connection in
            while let request = await connection.request() {
                let there = request.target == "/"
                try await connection.write(there ? redirect(status, to: location) : LoopbackConnection.empty)
            }
        }
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `a redirect within the origin is followed with the credentials`(status: Int) async throws {
        try await LoopbackServer.with(script: Self.script(status, to: "/there?x=1")) { server in
            try await withTransport { transport in
                let reply = try await transport.get(server.url, headers: [HTTPField("Authorization", "Bearer t")])
                #expect(reply.text == "{}")
                #expect(server.requests.map(\.target) == ["/", "/there?x=1"])
                #expect(server.requests.allSatisfy { $0.header("authorization") == "Bearer t" })
                #expect(server.accepted == 1)
            }
        }
    }

    @Test(arguments: ["GET", "POST"])
    func `a redirect to another origin is refused, and nothing is asked there`(method: String) async throws {
        try await LoopbackServer.with { other in
            try await LoopbackServer.with(script: Self.script(to: other.url + "/take?it=all")) { server in
                try await withTransport { transport in
                    await #expect(throws: TransportError.redirected(toOrigin: other.url)) {
                        try await transport.send(
                            HTTPRequest(
                                method: method, url: server.url, headers: [HTTPField("Authorization", "Bearer t")]))
                    }
                    #expect(server.requests.count == 1)
                    #expect(other.accepted == 0)
                }
            }
        }
    }

    @Test func `the same host over another scheme is another origin`() async throws {
        try await LoopbackServer.with { other in
            try await LoopbackServer.with(script: Self.script(to: other.secureURL)) { server in
                try await withTransport { transport in
                    #expect(await transport.failure(server.url) == .redirected(toOrigin: other.secureURL))
                }
            }
        }
    }

    @Test func `a redirected POST within the origin is an answer, and is not sent twice`() async throws {
        try await LoopbackServer.with(script: Self.script(307, to: "/there")) { server in
            try await withTransport { transport in
                let reply = try await transport.send(
                    HTTPRequest(method: "POST", url: server.url, body: Secret("grant_type=refresh_token")))
                #expect(reply.status == 307)
                #expect(reply.header("location") == "/there")
                #expect(server.requests.count == 1)
            }
        }
    }

    @Test(arguments: ["GET", "POST"])
    func `a redirect that the request accepts is an answer wherever it leads, and nothing is asked there`(
        method: String
    ) async throws {
        try await LoopbackServer.with { other in
            for location in [other.url + "/home", "/there"] {
                try await LoopbackServer.with(script: Self.script(to: location)) { server in
                    try await withTransport { transport in
                        var request = HTTPRequest(
                            method: method, url: server.url, headers: [HTTPField("Cookie", "s=1")])
                        request.acceptsRedirects = true
                        let reply = try await transport.send(request)
                        #expect(reply.status == 302 && reply.header("location") == location)
                        #expect(server.requests.count == 1 && other.accepted == 0)
                    }
                }
            }
        }
    }

    @Test func `a refused connection after a redirect does not show that nothing was sent`() async throws {
        let (refused, isRefused) = AsyncStream<Void>.makeStream()
        let script: LoopbackServer.Script = { connection in
            _ = await connection.request()
            for await _ in refused { break }
            try await connection.write(
                "HTTP/1.1 302 Moved\r\nLocation: /there\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        }
        try await LoopbackServer.with(script: script) { server in
            try await withTransport { transport in
                async let failure = transport.failure(server.url)
                while server.requests.isEmpty { await Task.yield() }
                try await server.stopListening()
                isRefused.yield()
                let error = await failure
                #expect(error?.showsNothingWasSent == false)
                guard case .connectionLost = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
            }
        }
    }

    @Test func `after five redirects the next one is the answer`() async throws {
        let script: LoopbackServer.Script = { try await $0.answerAll(Self.redirect(to: "/")) }
        try await LoopbackServer.with(script: script) { server in
            try await withTransport { transport in
                let reply = try await transport.get(server.url)
                #expect(reply.status == 302)
                #expect(server.requests.count == 6)
            }
        }
    }
}

import AuthHTTP
import AuthModel
import Testing

@Suite struct FailureTests {
    private static let host = "127.0.0.1"

    private static func configuration(_ change: (inout TransportLimits) -> Void) -> AsyncHTTPTransport.Configuration {
        var limits = TransportLimits()
        change(&limits)
        return .init(version: "1.2.3", limits: limits)
    }

    // MARK: - Size

    @Test(arguments: [HTTPRequest.largestDocument, HTTPRequest.largestAnswer], [0, 1])
    func `a declared length is refused from the first byte over what the request takes`(
        limit: Int, over: Int
    ) async throws {
        let length = limit + over
        let script: LoopbackServer.Script = { connection in
            while await connection.request() != nil {
                try await connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n")
                // Over the limit, the rest is not read: the head must be enough.
                if over > 0 { return await connection.silence() }
                try await connection.write([UInt8](repeating: 32, count: length))
            }
        }
        try await LoopbackServer.with(script: script) { server in
            try await withTransport { transport in
                if over > 0 {
                    #expect(await transport.failure(server.url, largest: limit) == .tooLarge(limit: limit))
                } else {
                    let reply = try await transport.get(server.url, largest: limit)
                    #expect(reply.body.count == length)
                }
            }
        }
    }

    @Test func `a body without a declared length is counted and refused`() async throws {
        let script: LoopbackServer.Script = { connection in
            _ = await connection.request()
            try await connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            let chunk = Array("100000\r\n".utf8) + [UInt8](repeating: 32, count: 1 << 20) + Array("\r\n".utf8)
            // Endless: only the client's refusal ends it.
            while true { try await connection.write(chunk) }
        }
        for limit in [HTTPRequest.largestDocument, HTTPRequest.largestAnswer, .max] {
            try await LoopbackServer.with(script: script) { server in
                try await withTransport { transport in
                    let failure = await transport.failure(server.url, largest: limit)
                    #expect(failure == .tooLarge(limit: min(limit, TransportLimits().bodyBytes)))
                }
            }
        }
    }

    @Test(arguments: [HTTPRequest.largestDocument, HTTPRequest.largestAnswer])
    func `a small body that unpacks to more than the limit is refused`(limit: Int) async throws {
        let bomb = try await gzip([UInt8](repeating: 0, count: limit + 1))
        #expect(bomb.count < 1 << 16)
        let script: LoopbackServer.Script = { connection in
            _ = await connection.request()
            try await connection.write(
                "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(bomb.count)\r\n\r\n")
            try await connection.write(bomb)
            await connection.silence()
        }
        try await LoopbackServer.with(script: script) { server in
            try await withTransport { transport in
                #expect(await transport.failure(server.url, largest: limit) == .tooLarge(limit: limit))
            }
        }
    }

    // MARK: - Time

    @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfive!"])
    func `silence before the head or in mid-body is a time-out`(start: String) async throws {
        let script: LoopbackServer.Script = { connection in
            _ = await connection.request()
            try await connection.write(start)
            await connection.silence()
        }
        try await LoopbackServer.with(script: script) { server in
            try await withTransport(Self.configuration { $0.silence = .milliseconds(100) }) { transport in
                let expected = TransportError.timedOut(host: Self.host, after: .milliseconds(100))
                #expect(await transport.failure(server.url) == expected)
            }
        }
    }

    @Test func `the whole response has a separate limit`() async throws {
        let script: LoopbackServer.Script = { connection in
            _ = await connection.request()
            try await connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfive!")
            await connection.silence()
        }
        try await LoopbackServer.with(script: script) { server in
            try await withTransport(Self.configuration { $0.total = .milliseconds(100) }) { transport in
                let expected = TransportError.timedOut(host: Self.host, after: .milliseconds(100))
                #expect(await transport.failure(server.url) == expected)
            }
        }
    }

    @Test func `the limits of the settings are those that hold`() async throws {
        let script: LoopbackServer.Script = { await $0.silence() }
        try await LoopbackServer.with(script: script) { server in
            for change: WritableKeyPath<HTTPSettings, Duration> in [\.requestTimeout, \.totalTimeout] {
                var settings = HTTPSettings()
                settings[keyPath: change] = .milliseconds(100)
                try await withTransport(.init(version: "1", settings: settings, environment: [:])) { transport in
                    let expected = TransportError.timedOut(host: Self.host, after: .milliseconds(100))
                    #expect(await transport.failure(server.url) == expected)
                }
            }
            var settings = HTTPSettings()
            settings.connectTimeout = .milliseconds(100)
            try await withTransport(.init(version: "1", settings: settings, environment: [:])) { transport in
                let expected = TransportError.timedOut(host: Self.host, after: .milliseconds(100))
                #expect(await transport.failure(server.secureURL) == expected)
            }
        }
    }

    @Test func `a handshake that is never answered is a time-out of connecting`() async throws {
        let script: LoopbackServer.Script = { await $0.silence() }
        try await LoopbackServer.with(script: script) { server in
            try await withTransport(Self.configuration { $0.connect = .milliseconds(100) }) { transport in
                let expected = TransportError.timedOut(host: Self.host, after: .milliseconds(100))
                #expect(await transport.failure(server.secureURL) == expected)
            }
        }
    }

    // MARK: - Connections

    @Test func `a port without a listener refuses`() async throws {
        let held = try BoundPort()
        let url = "http://127.0.0.1:\(held.port)/"
        try await withTransport { #expect(await $0.failure(url) == .connectionRefused(host: Self.host)) }
        _ = consume held
    }

    @Test func `a name that does not exist is not resolved`() async throws {
        try await withTransport { transport in
            let host = "authd-test.invalid"
            #expect(await transport.failure("http://\(host)/") == .nameNotResolved(host: host))
        }
    }

    @Test func `no route means offline`() async throws {
        // TCP to the broadcast address: Linux answers ENETUNREACH whatever the routes are.
        try await withTransport { transport in
            guard case .offline = await transport.failure("http://255.255.255.255/") else {
                Issue.record("not offline")
                return
            }
        }
    }

    @Test(arguments: [
        "", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfive!",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfive!\r\n", "SSH-2.0-OpenSSH_9.2\r\n\r\n",
    ])
    func `a connection that ends before the answer is whole is lost`(start: String) async throws {
        let script: LoopbackServer.Script = { connection in
            _ = await connection.request()
            try await connection.write(start)
        }
        try await LoopbackServer.with(script: script) { server in
            try await withTransport { transport in
                guard case .connectionLost(Self.host, _) = await transport.failure(server.url) else {
                    Issue.record("not lost: \(start)")
                    return
                }
            }
        }
    }
}

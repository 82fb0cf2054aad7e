import AuthModel
import Glibc
import NIOCore
import NIOPosix
import NIOSSL
import Testing

@testable import AuthHTTP

@Suite struct TrustTests {
    private static func isTLS(_ error: TransportError?) -> Bool {
        if case .tls(host: "127.0.0.1", _) = error { true } else { false }
    }

    private static func isCertificate(_ error: TransportError?) -> Bool {
        if case .certificate(host: "127.0.0.1", _) = error { true } else { false }
    }

    @Test func `an unknown authority is refused before a request is sent`() async throws {
        let authority = try await ThrowawayAuthority()
        try await LoopbackServer.with(tls: try await authority.server(names: "IP:127.0.0.1")) { server in
            try await withTransport { transport in
                #expect(Self.isCertificate(await transport.failure(server.secureURL)))
                #expect(server.requests.isEmpty)
            }
        }
    }

    @Test func `a file of the settings or SSL_CERT_FILE adds to the authorities`() async throws {
        let authority = try await ThrowawayAuthority()
        try await LoopbackServer.with(tls: try await authority.server(names: "IP:127.0.0.1")) { server in
            for configuration in [
                AsyncHTTPTransport.Configuration(version: "1", extraCAFile: authority.file),
                AsyncHTTPTransport.Configuration(version: "1", environment: ["SSL_CERT_FILE": authority.file]),
            ] {
                try await withTransport(configuration) { transport in
                    let reply = try await transport.get(server.secureURL)
                    #expect(reply.text == "{}")
                    #expect(transport.notices.isEmpty)
                }
            }
        }
    }

    @Test func `a certificate for another name is refused`() async throws {
        let authority = try await ThrowawayAuthority()
        let tls = try await authority.server(names: "DNS:other.test,IP:127.0.0.2")
        try await LoopbackServer.with(tls: tls) { server in
            try await withTransport(.init(version: "1", extraCAFile: authority.file)) { transport in
                #expect(Self.isCertificate(await transport.failure(server.secureURL)))
                #expect(server.requests.isEmpty)
            }
        }
    }

    /// Whoever answers for a name in DNS can have a certificate for their own address.
    @Test(arguments: [
        ("IP:127.0.0.1", false), ("DNS:other.test,IP:127.0.0.1", false), ("DNS:localhost,IP:127.0.0.1", true),
    ])
    func `a certificate for the address of the connection is none for a name`(names: String, isValid: Bool) async throws
    {
        let authority = try await ThrowawayAuthority()
        let tls = try await authority.server(names: names)
        try await LoopbackServer.with(tls: tls) { server in
            try await withTransport(.init(version: "1", extraCAFile: authority.file)) { transport in
                let url = "https://localhost:\(server.port)"
                for closes in [false, true] {
                    let request = HTTPRequest(method: "GET", url: url).closingConnection(if: closes)
                    let isAnswered = (try? await transport.send(request)) != nil
                    #expect(isAnswered == isValid)
                }
                let live = HTTPRequest(method: "GET", url: url)
                var isRead = false
                do throws(TransportError) {
                    try await transport.stream(live, limit: .seconds(30), to: Unread())
                    isRead = true
                } catch {}
                #expect(isRead == isValid)
                let loop = MultiThreadedEventLoopGroup.singleton.next()
                let channel = try? await transport.connect(to: Origin(url), on: loop).get()
                #expect((channel != nil) == isValid)
                try? await channel?.close()
                #expect(server.requests.isEmpty != isValid)
            }
        }
    }

    @Test func `a name matches a wildcard for one label, and an address only itself`() {
        let own: [UInt8] = [127, 0, 0, 1]
        func matches(_ host: String, _ hosts: [String]) -> Bool {
            PeerName.matches(host, hosts: hosts, addresses: [own], reached: own)
        }
        #expect(matches("a.example.org", ["*.Example.org"]) && matches("A.example.org.", ["a.example.org"]))
        for (host, pattern) in [
            ("a.b.example.org", "*.example.org"), ("example.org", "*.example.org"), ("org", "*"), ("a.org", "*.org"),
        ] { #expect(!matches(host, [pattern])) }
        // Through a proxy, the address of the connection is the proxy's.
        #expect(PeerName.matches("127.0.0.1", hosts: [], addresses: [own], reached: [10, 0, 0, 1]))
        #expect(!PeerName.matches("127.0.0.2", hosts: [], addresses: [own], reached: own))
        #expect(PeerName.matches("a.org", hosts: ["a.org"], addresses: [], reached: own))
    }

    @Test func `a server that does not speak TLS is a TLS failure`() async throws {
        let script: LoopbackServer.Script = { connection in
            _ = await connection.bytes()
            try await connection.write("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
            await connection.silence()
        }
        try await LoopbackServer.with(script: script) { server in
            try await withTransport { #expect(Self.isTLS(await $0.failure(server.secureURL))) }
        }
    }

    @Test func `requests are HTTP 1, and responses that are read live may be HTTP 2`() async throws {
        let authority = try await ThrowawayAuthority()
        let tls = try await authority.server(names: "IP:127.0.0.1", protocols: ["h2", "http/1.1"])
        let (spoken, speak) = AsyncStream.makeStream(of: [UInt8].self)
        let script: LoopbackServer.Script = { connection in
            if let bytes = await connection.bytes() { speak.yield(bytes) }
        }
        try await LoopbackServer.with(tls: tls, script: script) { server in
            try await withTransport(.init(version: "1", extraCAFile: authority.file)) { transport in
                _ = await transport.failure(server.secureURL)
                let request = HTTPRequest(method: "GET", url: server.secureURL)
                await #expect(throws: TransportError.self) {
                    try await transport.stream(request, limit: .seconds(30), to: Unread())
                }
                var first = spoken.makeAsyncIterator()
                #expect(await first.next()?.starts(with: Array("GET / HTTP/1.1\r\n".utf8)) == true)
                // The connection preface (RFC 9113 §3.4).
                #expect(await first.next()?.starts(with: Array("PRI * HTTP/2.0\r\n".utf8)) == true)
            }
        }
    }

    @Test func `a connection of HTTP 2 is closed at its first error`() async throws {
        @Sendable func frame(_ kind: UInt8, _ stream: UInt8, _ payload: [UInt8]) -> [UInt8] {
            [0, 0, UInt8(payload.count), kind, 0, 0, 0, 0, stream] + payload
        }
        let authority = try await ThrowawayAuthority()
        let tls = try await authority.server(names: "IP:127.0.0.1", protocols: ["h2"])
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let script: LoopbackServer.Script = { connection in
            _ = await connection.bytes()
            try await connection.write(frame(4, 0, []))
            _ = await connection.bytes()
            // Headers that never end (RFC 9113 §10.5).
            try await connection.write(frame(1, 1, [0x88]) + (1...50).flatMap { _ in frame(9, 1, [0x88]) })
            while await connection.bytes() != nil {}
            end.yield()
        }
        try await LoopbackServer.with(tls: tls, script: script) { server in
            try await withTransport(.init(version: "1", extraCAFile: authority.file)) { transport in
                let error = await #expect(throws: TransportError.self) {
                    try await transport.stream(
                        HTTPRequest(method: "GET", url: server.secureURL), limit: .seconds(30), to: Unread())
                }
                if case .timedOut? = error { Issue.record("the connection was kept") }
                for await _ in ends { break }
            }
        }
    }

    @Test func `a missing or invalid file in the settings is named at the start`() async throws {
        let authority = try await ThrowawayAuthority()
        for file in [authority.path("missing.pem"), try authority.write("no certificate", to: "empty.pem")] {
            let error = #expect(throws: TransportSettingsError.self) {
                try AsyncHTTPTransport(
                    .init(version: "1", extraCAFile: file), group: MultiThreadedEventLoopGroup.singleton)
            }
            #expect(error?.setting == "http.ca_file")
            #expect(error?.reason.contains(file) == true)
        }
    }

    @Test func `the system's store is recognized by any name, and not loaded again`() async throws {
        let authority = try await ThrowawayAuthority()
        let link = authority.path("link.pem")
        #expect(symlink("/etc/ssl/certs/ca-certificates.crt", link) == 0)
        #expect(TrustRoots.isSystemStore("/etc/ssl/certs/ca-certificates.crt"))
        #expect(TrustRoots.isSystemStore(link))
        #expect(!TrustRoots.isSystemStore(authority.file))
        #expect(!TrustRoots.isSystemStore(authority.path("missing.pem")))
        for (file, isAdded) in [(link, false), (authority.file, true)] {
            let roots = try TrustRoots(extraCAFile: nil, environment: ["SSL_CERT_FILE": file])
            #expect(roots.notices.isEmpty)
            #expect(roots.tlsConfiguration(closeNotify: .zero).additionalTrustRoots.isEmpty == !isAdded, "\(file)")
        }
    }

    @Test func `an SSL_CERT_FILE that is missing is a notice, and requests go on`() async throws {
        let authority = try await ThrowawayAuthority()
        let configuration = AsyncHTTPTransport.Configuration(
            version: "1", extraCAFile: authority.file, environment: ["SSL_CERT_FILE": authority.path("missing.pem")])
        try await LoopbackServer.with(tls: try await authority.server(names: "IP:127.0.0.1")) { server in
            try await withTransport(configuration) { transport in
                #expect(transport.notices.count == 1)
                let reply = try await transport.get(server.secureURL)
                #expect(reply.text == "{}")
            }
        }
    }
}

private struct Unread: HTTPLiveReceiver {
    func begin(_ head: HTTPResponse) async {}
    func receive(_ piece: [UInt8]) async {}
}

import AuthHTTP
import AuthModel
import NIOPosix
import Testing

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

    @Test func `a server that offers HTTP 2 is spoken to in it`() async throws {
        let authority = try await ThrowawayAuthority()
        let tls = try await authority.server(names: "IP:127.0.0.1", protocols: ["h2", "http/1.1"])
        let (spoken, speak) = AsyncStream.makeStream(of: [UInt8].self)
        let script: LoopbackServer.Script = { connection in
            if let bytes = await connection.bytes() { speak.yield(bytes) }
        }
        try await LoopbackServer.with(tls: tls, script: script) { server in
            try await withTransport(.init(version: "1", extraCAFile: authority.file)) { transport in
                _ = await transport.failure(server.secureURL)
                for await bytes in spoken {
                    // The connection preface (RFC 9113 §3.4).
                    #expect(bytes.starts(with: Array("PRI * HTTP/2.0\r\n".utf8)))
                    break
                }
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

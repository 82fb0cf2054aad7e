import AuthHTTP
import AuthModel
import Testing

/// The proxies here find every name on this machine, so a name that no resolver knows shows that they were asked.
@Suite struct ProxyTests {
    private static func configuration(_ environment: [String: String]) -> AsyncHTTPTransport.Configuration {
        .init(version: "1.2.3", environment: environment)
    }

    @Test func `a request goes through the proxy of the environment`() async throws {
        try await LoopbackServer.with(script: ConnectProxy.script()) { proxy in
            try await LoopbackServer.with { server in
                try await withTransport(Self.configuration(["http_proxy": proxy.url])) { transport in
                    let headers = [HTTPField("Authorization", "Bearer t")]
                    let reply = try await transport.get("http://api.test:\(server.port)/a", headers: headers)
                    #expect(reply.text == "{}")
                    #expect(proxy.requests.map(\.target) == ["api.test:\(server.port)"])
                    #expect(proxy.requests.first?.header("authorization") == nil)
                    #expect(server.requests.map(\.target) == ["/a"])
                }
            }
        }
    }

    @Test func `a request goes through the proxy of the settings, TLS and all`() async throws {
        let authority = try await ThrowawayAuthority()
        let tls = try await authority.server(names: "DNS:api.test")
        try await LoopbackServer.with(script: ConnectProxy.script()) { proxy in
            try await LoopbackServer.with(tls: tls) { server in
                let configuration = AsyncHTTPTransport.Configuration(
                    version: "1.2.3", proxy: "127.0.0.1:\(proxy.port)", extraCAFile: authority.file)
                try await withTransport(configuration) { transport in
                    let reply = try await transport.get("https://api.test:\(server.port)/")
                    #expect(reply.text == "{}")
                    #expect(proxy.requests.count == 1)
                }
            }
        }
    }

    @Test func `the proxy gets the user name and password in its address`() async throws {
        // ada:p@ss in base64.
        try await LoopbackServer.with(script: ConnectProxy.script(password: "YWRhOnBAc3M=")) { proxy in
            try await LoopbackServer.with { server in
                let url = "http://api.test:\(server.port)/"
                let right = Self.configuration(["http_proxy": "http://ada:p%40ss@127.0.0.1:\(proxy.port)"])
                try await withTransport(right) { transport in
                    let reply = try await transport.get(url)
                    #expect(reply.status == 200)
                }
                let wrong = Self.configuration(["http_proxy": "http://ada:secret@127.0.0.1:\(proxy.port)"])
                try await withTransport(wrong) { transport in
                    guard case .proxy(let reason) = await transport.failure(url) else {
                        Issue.record("not the proxy's fault")
                        return
                    }
                    #expect(!reason.contains("secret"))
                }
                #expect(server.requests.count == 1)
            }
        }
    }

    @Test func `what no_proxy names and the machine itself go directly`() async throws {
        try await LoopbackServer.with(script: ConnectProxy.script()) { proxy in
            try await LoopbackServer.with { server in
                let variables = ["http_proxy": proxy.url, "no_proxy": ".invalid"]
                try await withTransport(Self.configuration(variables)) { transport in
                    let reply = try await transport.get(server.url)
                    #expect(reply.text == "{}")
                    let failure = await transport.failure("http://authd-test.invalid/")
                    #expect(failure == .nameNotResolved(host: "authd-test.invalid"))
                    #expect(proxy.accepted == 0)
                }
            }
        }
    }

    @Test func `a proxy that is missing, refuses or is silent is at fault, not the origin`() async throws {
        let held = try BoundPort()
        let scripts: [LoopbackServer.Script] = [
            { try await $0.answerAll("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n") }, { await $0.silence() },
        ]
        var configuration = Self.configuration(["https_proxy": "http://127.0.0.1:\(held.port)"])
        configuration.limits.connect = .milliseconds(200)
        try await Self.expectProxyAtFault(configuration)
        for script in scripts {
            try await LoopbackServer.with(script: script) { proxy in
                configuration.environment["https_proxy"] = proxy.url
                try await Self.expectProxyAtFault(configuration)
            }
        }
        _ = consume held
    }

    private static func expectProxyAtFault(_ configuration: AsyncHTTPTransport.Configuration) async throws {
        try await withTransport(configuration) { transport in
            let failure = await transport.failure("https://api.test/")
            guard case .proxy = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
        }
    }
}

import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// What the server of a proxy's session must not get, and what its clients get without a provider.
@Suite("The proxy of a session: its key, and a provider that is away", .serialized, .timeLimit(.minutes(2)))
struct ProxyKeyTests {
    @Test("WebDAV's headers have the server's addresses, and a request with the key anywhere else is not sent")
    func webDAV() async throws {
        try await ProxyScene.play { play in
            try await play.proxy(["--listen", "127.0.0.1:0"]) { proxy in
                let key = String(try #require(proxy.text.split(separator: "/").last))
                let words = [
                    "-X", "PUT", "-d", "a", "-H", "If: <\(proxy.url("/dav/a"))> (<urn:uuid:1> [\"2\"])", "-H",
                    "Destination: /\(key)/dav/b",
                ]
                for options in [words, words + ["-H", "Authd-Key: \(key)"]] {
                    let fields = try #require(try await proxy.json("/dav/a", options)["fields"]?.arrayValue).map {
                        ($0.arrayValue ?? []).compactMap(\.stringValue)
                    }
                    #expect(fields.contains(["if", "<\(play.server.url)/dav/a> (<urn:uuid:1> [\"2\"])"]), "\(fields)")
                    #expect(fields.contains(["destination", play.server.url + "/dav/b"]), "\(fields)")
                    #expect(!fields.joined().contains { $0.contains(key) }, "\(fields)")
                }
                let before = try await play.log().count
                for (target, options) in [
                    ("/a", ["-H", "X-Callback: \(proxy.url("/b"))"]), ("/a?next=\(key)", []), ("/\(key)/a", []),
                ] {
                    let refused = try await proxy.curl(target, options)
                    #expect(refused.hasPrefix("HTTP/1.1 400") && refused.contains("the proxy's key, in "), "\(refused)")
                    #expect(!refused.contains(key))
                }
                #expect(try await play.log().count == before)
            }
        }
    }

    @Test("without the provider, a session whose token has ended is a 502 with the reason")
    func providerAway() async throws {
        try await Scene.play(tokenSeconds: 6) { scene in
            #expect(try await scene.login(.appTemplate).status == 0)
            try await scene.backends.setListening(false, .appTemplate)
            try await scene.proxy([Programs.authc, "proxy", "-s", "app-template"]) { proxy in
                let watch = try await Child(
                    [Programs.authc, "watch", "--json"], environment: scene.desktop.environment)
                #expect(await watch.out.wait(for: #""state":"stale""#))
                let problem = try await proxy.curl("/users")
                #expect(problem.hasPrefix("HTTP/1.1 502") && problem.contains("provider_unreachable"), "\(problem)")
                await watch.end()
            }
        }
    }
}

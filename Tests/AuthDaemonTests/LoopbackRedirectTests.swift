import AuthDaemon
import AuthModel
import AuthWire
import Foundation
import NIOCore
import NIOPosix
import TestSupport
import Testing

@Suite("The redirect listener", .timeLimit(.minutes(1)))
struct LoopbackRedirectTests {
    private func listening(
        _ text: String, as identity: TLSIdentity? = nil, _ test: (any RedirectListener, String) async throws -> Void
    ) async throws {
        let redirect = try #require(LoopbackRedirect(text))
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let listener = try await LoopbackRedirects(loop: group.next()).listen(at: redirect, as: identity)
        let result: Result<Void, any Error>
        do {
            try await test(listener, listener.redirectURI)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        listener.close()
        try await group.shutdownGracefully()
        try result.get()
    }

    /// The status, header fields and page that a browser receives.
    private func get(_ url: String, _ more: String...) async throws -> Child.Output {
        let command = ["curl", "--silent", "--show-error", "--include", "--noproxy", "*", "--max-time", "20"]
        return try await Child(command + more + [url], environment: ["PATH": "/usr/bin:/bin"]).output()
    }

    @Test("a visit waits for its page, which has no script and no external resources")
    func page() async throws {
        try await listening("http://127.0.0.1/callback") { listener, uri in
            async let shown = get(uri + "?code=a&state=b")
            for await visit in listener.visits {
                #expect(visit.query == "code=a&state=b")
                // The last bracket is one character with the mark after it.
                visit.show(.failed("The <b>provider</b> said \"no\" <\u{301}."))
                break
            }
            let answer = try await shown
            #expect(answer.out.hasPrefix("HTTP/1.1 400"), "\(answer.out)\(answer.err)")
            #expect(answer.out.contains("default-src 'none'"))
            #expect(answer.out.contains("no-store"))
            #expect(answer.out.contains("&lt;b&gt;provider&lt;/b&gt;"))
            #expect(answer.out.contains("&lt;\u{301}."))
            #expect(answer.out.contains("You can close this window"))
            for word in ["<script", "http://", "https://", "src="] { #expect(!answer.out.contains(word), "\(word)") }
        }
    }

    @Test("only a GET of its path with a name of this machine is a visit")
    func stranger() async throws {
        try await listening("http://127.0.0.1/callback") { listener, uri in
            let origin = uri.dropLast("/callback".count)
            let other = try await get(origin + "/favicon.ico")
            #expect(other.out.contains("404"))
            let post = try await get(uri, "--request", "POST")
            #expect(post.out.contains("405"))
            let rebound = try await get(uri, "--header", "Host: rebound.example")
            #expect(rebound.out.contains("404"))
            listener.close()
            for await _ in listener.visits { Issue.record("it was taken for a visit") }
        }
    }

    @Test("after close it does not listen")
    func closed() async throws {
        try await listening("http://127.0.0.1/callback") { listener, uri in
            listener.close()
            for await _ in listener.visits {}
            var refused = try await get(uri)
            // The event loop releases the port a moment later.
            while refused.status == 0 { refused = try await get(uri) }
            #expect(refused.status != 0, "\(refused.out)")
        }
    }

    @Test("[::1] is used if the profile says so, and both addresses for localhost", arguments: ["[::1]", "localhost"])
    func addresses(host: String) async throws {
        try await listening("http://\(host)/callback") { listener, uri in
            let port = try #require(uri.firstMatch(of: /:(\d+)\/callback/)?.1)
            let hosts = host == "localhost" ? ["127.0.0.1", "[::1]"] : [host]
            for host in hosts {
                async let shown = get("http://\(host):\(port)/callback?a", "--globoff")
                for await visit in listener.visits {
                    visit.show(.done("Example"))
                    break
                }
                let page = try await shown
                #expect(page.out.contains("Signed in to Example"))
            }
        }
    }

    @Test("with current TLS, only clients that trust its certificate get the page")
    func secure() async throws {
        let folder = try TemporaryFolder()
        let (key, certificate) = (folder.path + "/key", folder.path + "/certificate")
        let made = try await Child(
            [
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-keyout",
                key, "-out", certificate, "-subj", "/CN=page", "-addext", "subjectAltName=IP:127.0.0.1",
            ], environment: ["PATH": "/usr/bin:/bin"]
        ).output()
        #expect(made.status == 0, "\(made.err)")
        let identity = TLSIdentity(
            certificates: try String(contentsOfFile: certificate, encoding: .utf8),
            key: Secret(try String(contentsOfFile: key, encoding: .utf8)), fingerprint: "")
        try await listening("https://127.0.0.1/callback", as: identity) { listener, uri in
            #expect(uri.hasPrefix("https://127.0.0.1:"))
            let unknown = try await get(uri)
            #expect(unknown.status == 60, "\(unknown.out)\(unknown.err)")
            let old = try await get(uri, "--cacert", certificate, "--tlsv1.0", "--tls-max", "1.1")
            #expect(old.status == 35, "\(old.out)\(old.err)")
            let plain = try await get(uri.replacing("https:", with: "http:"))
            #expect(!plain.out.contains("HTTP/1.1 "), "\(plain.out)")
            async let shown = get(uri + "?code=a", "--cacert", certificate)
            for await visit in listener.visits {
                #expect(visit.query == "code=a")
                visit.show(.done("Example"))
                break
            }
            let page = try await shown
            #expect(page.out.contains("Signed in to Example"), "\(page.out)\(page.err)")
        }
    }

    @Test("a used port of the profile is reported with advice")
    func taken() async throws {
        try await listening("http://127.0.0.1/callback") { listener, uri in
            let fixed = try #require(LoopbackRedirect(uri))
            let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
            do throws(AgentError) {
                _ = try await LoopbackRedirects(loop: group.next()).listen(at: fixed, as: nil)
                Issue.record("two listen on one port")
            } catch {
                #expect(error.kind == .conflict)
                #expect(error.message.contains("--paste"))
            }
            try await group.shutdownGracefully()
        }
    }
}

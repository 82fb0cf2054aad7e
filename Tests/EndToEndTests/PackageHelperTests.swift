import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// Package managers with a session's token, against a server that checks it.
@Suite("Package managers that ask a helper", .serialized, .timeLimit(.minutes(3)))
struct PackageHelperTests {
    private func play(_ test: @escaping @Sendable (Scene, Peer) async throws -> Void) async throws {
        try await Scene.play(
            signedInTo: .programs, ["repositories", ""],
            with: { server in
                await server.output.wait(for: "certificate ")
                let secure = try #require(server.output.text.firstMatch(of: /TLS port ([0-9]+)/)?.1)
                return """
                    [hosts]
                    modules = "https://127.0.0.1:\(secure)"
                    [endpoints.modules]
                    method = "GET"
                    path = "/modules"
                    host = "modules"
                    """
            }, test)
    }

    /// The server's log, which has no tokens.
    private static func log(_ scene: Scene, _ server: Peer) async throws -> String {
        let log = try await scene.run("curl -s \(server.url)/log").out
        #expect(!log.contains("token-"), "\(log)")
        return log
    }

    // MARK: pip

    @Test("pip and uv download with the session's token, and never ask for a password")
    func pip() async throws {
        try await play { scene, server in
            let host = server.url.dropFirst("http://".count)
            let (pip, uv) = (try Peer.program("pip", of: "pip"), try Peer.program("uv", of: "pip"))
            let download = { (address: String) in
                """
                rm -rf got; mkdir got; \(pip) --no-cache-dir --disable-pip-version-check download --no-deps -d got \
                -v --index-url \(address)/simple one < /dev/null && ls got
                """
            }
            let early = try await scene.run(download("http://oauth2@\(host)"))
            #expect(early.status != 0)
            let install = try await scene.run("authc helper install pip; cat .local/bin/keyring")
            #expect(install.out == "#!/bin/sh\nexec authc helper pip \"$@\"\n", "\(install.err)")
            #expect(install.err.contains("keyring: exec authc helper pip \"$@\""), "\(install.err)")
            for address in ["http://oauth2@\(host)", server.url] {
                let got = try await scene.run(download(address))
                #expect(got.status == 0 && got.out.hasSuffix("one-1.0-py3-none-any.whl\n"), "\(got.out) \(got.err)")
                #expect(!(got.out + got.err).contains("token-"))
            }
            let asked = try await scene.run(
                "export PIP_KEYRING_PROVIDER=subprocess PIP_NO_INPUT=1; \(download(server.url))")
            #expect(asked.status == 0, "\(asked.err)")
            let installed = try await scene.run(
                """
                rm -rf got; \(uv) --no-cache --no-config pip install --keyring-provider subprocess --target got \
                --python /usr/bin/python3 --default-index http://oauth2@\(host)/simple one && ls got
                """)
            #expect(installed.status == 0 && installed.out == "one-1.0.dist-info\n", "\(installed.err)")
            #expect(try await Self.log(scene, server).contains("GET /files/one-1.0-py3-none-any.whl Basic"))

            #expect(try await scene.authc(["logout", "-s", "forge"]).status == 0)
            let out = try await scene.run(download("http://oauth2@\(host)"))
            #expect(out.status != 0, "\(out.out)")
            let removed = try await scene.run("authc helper install pip --remove; ls .local/bin")
            #expect(removed.status == 0 && removed.out.isEmpty, "\(removed.out) \(removed.err)")
        }
    }

    @Test("keyring's options are answered as it answers them; other hosts and actions get status 1 or 65")
    func keyringOptions() async throws {
        try await play { scene, server in
            let url = server.url + "/simple/"
            let cases = [
                ("get \(url) ada", "token-1\n"), ("--mode creds get \(url)", "oauth2\ntoken-1\n"),
                ("--mode=creds get \(url) ada", "ada\ntoken-1\n"),
                ("--mode creds --user x get \(url)", "x\ntoken-1\n"),
                ("--mode=creds --output=json get \(url)", "{\"username\":\"oauth2\",\"password\":\"token-1\"}\n"),
            ]
            for (words, answer) in cases {
                let got = try await scene.run("authc helper pip \(words)")
                #expect(got.status == 0 && got.out == answer, "\(words): \(got.out) \(got.err)")
            }
            for address in ["https://elsewhere.example/simple", String(url.dropFirst("http://".count)), "127.0.0.1"] {
                let got = try await scene.run("authc helper pip get \(address) ada")
                #expect(got.status == 1 && got.out.isEmpty && got.err.contains("authc: "), "\(address): \(got.err)")
            }
            let stored = try await scene.run("echo secret | authc helper pip set \(url) ada")
            #expect(stored.status == 65 && stored.out.isEmpty, "\(stored.err)")
            // Another program of that name stays.
            let other = try await scene.run(
                """
                echo true > bin/keyring; chmod +x bin/keyring
                authc helper install pip; echo $?; ls .local/bin; mv bin/keyring .local/bin
                authc helper install pip; echo $?; authc helper install pip --remove; echo $?; cat .local/bin/keyring
                rm .local/bin/keyring; authc helper install pip --for \(server.url); echo $?
                authc helper install pip --dry-run -s forge; ls .local/bin
                """)
            #expect(other.out == "64\n64\n64\ntrue\n64\n", "\(other.out) \(other.err)")
            #expect(other.err.contains("exec authc helper pip -s forge \"$@\""), "\(other.err)")
            #expect(try await scene.authc(["logout", "-s", "forge"]).status == 0)
            let out = try await scene.run("authc helper pip get \(url) ada")
            #expect(out.status == 1 && out.out.isEmpty && !out.err.isEmpty)
        }
    }
}

import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// git, skopeo, kubectl and curl with a session's token, against servers that check it.
@Suite("Programs that ask a helper", .serialized, .timeLimit(.minutes(3)))
struct HelperTests {
    private func play(
        registry: Bool = false, _ test: @escaping @Sendable (Scene, Peer) async throws -> Void
    ) async throws {
        try await Scene.play(
            signedInTo: .programs, ["repositories", registry ? "images" : ""],
            with: { server in
                await server.output.wait(for: "\n", times: 2)
                let secure = try #require(server.output.text.firstMatch(of: /TLS port ([0-9]+)/)?.1)
                return """
                    [hosts]
                    cluster = "https://127.0.0.1:\(secure)"
                    [endpoints.version]
                    method = "GET"
                    path = "/version"
                    host = "cluster"
                    """
            }, test)
    }

    private func run(_ line: String, _ scene: Scene) async throws -> Child.Output { try await scene.run(line) }

    @Test("git clones and pushes with the session's token, gets a new one after a 401, and is configured and reset")
    func git() async throws {
        try await play { scene, server in
            // Another session is the default.
            _ = try await scene.login(.appTemplate)
            #expect(try await scene.agent.authc("use", "app-template").status == 0)
            let made = try await run(
                "git init -q --bare ../repositories/one.git && git clone -q \(server.url)/git/one.git early", scene)
            #expect(made.status != 0)
            let install = try await run("authc helper install git --for \(server.url)/", scene)
            #expect(install.status == 0, "\(install.err)")
            let line = "git config --global --add credential.\(server.url).helper '!authc helper git'"
            #expect(install.err.contains(line))
            let end = "\nThese commands were run. git now asks authd for the password for \(server.url).\n"
            #expect(install.err.hasSuffix(end), "\(install.err)")
            let push = try await run(
                """
                git clone -q \(server.url)/git/one.git one && cd one && head -c 3000000 /dev/urandom > big \
                && git add . && git commit -qm first && git push -q origin HEAD:main
                """, scene)
            #expect(push.status == 0, "\(push.err)")
            _ = try await run("curl -s -X POST \(server.url)/control/revoke", scene)
            // git reports the refused token (erase), and does not ask again by itself.
            let first = try await run("git clone -q \(server.url)/git/one.git two", scene)
            #expect(first.status != 0)
            let second = try await run(
                "git clone -q -b main \(server.url)/git/one.git two && cmp one/big two/big", scene)
            #expect(second.status == 0, "\(second.err)")
            #expect(try await scene.authc(["token", "-s", "forge"]).out == "token-2\n")

            let removed = try await run(
                "authc helper install git --for \(server.url) --remove; git config --global --list", scene)
            #expect(removed.status == 0 && !removed.out.contains("credential"), "\(removed.out)")
            let log = try await run("curl -s \(server.url)/log", scene)
            #expect(!log.out.contains("token-") && log.out.contains("Basic"))

            // Another program's helper is neither replaced nor removed.
            let kept = try await run(
                """
                key=credential.\(server.url).helper; git config --global --add $key ''
                git config --global --add $key '!gh auth git-credential'
                authc helper install git --for \(server.url); echo $?
                authc helper install git --for \(server.url) --remove; git config --global --get-all $key
                """, scene)
            #expect(kept.out == "64\n\n!gh auth git-credential\n", "\(kept.out) \(kept.err)")
        }
    }

    @Test("git's newer attributes are answered if git sends them; other hosts and actions get nothing")
    func gitProtocol() async throws {
        try await play { scene, server in
            _ = try await scene.login(.appTemplate)
            let host = server.url.dropFirst("http://".count)
            let cases: [(String, String)] = [
                ("protocol=http\\nhost=\(host)\\n\\n", "username=oauth2\npassword=token-1\n"),
                ("protocol=http\\nhost=\(host)\\nusername=ada\\npath=x\\n", "username=ada\npassword=token-1\n"),
                (
                    "capability[]=authtype\\nprotocol=http\\nhost=\(host)\\nwwwauth[]=Bearer realm=x\\n",
                    "capability[]=authtype\nauthtype=Bearer\ncredential=token-1\nephemeral=1\n"
                ),
                (
                    "capability[]=authtype\\nprotocol=http\\nhost=\(host)\\nwwwauth[]=Basic realm=x\\n",
                    "username=oauth2\npassword=token-1\n"
                ),
            ]
            for (input, answer) in cases {
                let got = try await run("printf '\(input)' | authc helper git get", scene)
                #expect(got.status == 0 && got.out.hasPrefix(answer), "\(input): \(got.out) \(got.err)")
                let end = try #require(got.out.firstMatch(of: /password_expiry_utc=([0-9]+)\n$/)?.1)
                #expect(abs((Double(end) ?? 0) - Date().timeIntervalSince1970 - 600) < 100)
            }
            for input in [
                "protocol=https\\nhost=elsewhere.example\\n", "protocol=ssh\\nhost=\(host)\\n", "host", "",
                "protocol=http\\nhost=\(host)/.evil.example\\n",
                "protocol=http\\nhost=\(host)/\u{301}.evil.example\\n", "protocol=http\\nhost=\(host)\\r\\nx=y\\n",
            ] {
                let got = try await run("printf '\(input)' | authc helper git get", scene)
                #expect(got.out.isEmpty, "\(input): \(got.out)")
            }
            let other = try await run(
                "printf 'protocol=https\\nhost=elsewhere.example\\n' | authc helper git get", scene)
            #expect(other.status == 77 && other.err.contains("elsewhere.example"), "\(other.err)")
            for action in ["store", "capability", "erase"] {
                let got = try await run("printf 'protocol=http\\nhost=\(host)\\n' | authc helper git \(action)", scene)
                #expect(got.status == 0 && got.out.isEmpty, "\(action): \(got.err)")
            }
            // A session that is preferred for other servers does not stand in the way.
            let preferred = try await run(
                "printf 'protocol=http\\nhost=\(host)\\n' | AUTHD_SESSION=app-template authc helper git get", scene)
            #expect(preferred.status == 0 && preferred.out.contains("password=token-1"), "\(preferred.err)")
            #expect(try await scene.authc(["logout", "-s", "forge"]).status == 0)
            let out = try await run("printf 'protocol=http\\nhost=\(host)\\n' | authc helper git get", scene)
            #expect(out.status == 77 && out.out.isEmpty, "\(out.err)")
        }
    }

    @Test("skopeo copies an image into a registry and back with docker's helper")
    func docker() async throws {
        try await play(registry: true) { scene, server in
            let host = server.url.dropFirst("http://".count)
            let install = try await run("authc helper install docker --for \(server.url)", scene)
            #expect(install.status == 0 && install.err.contains("\"\(host)\": \"authd\""), "\(install.err)")
            let image = try await run(
                """
                \(Scene.ociImage)
                skopeo --insecure-policy copy --dest-tls-verify=false oci:image docker://\(host)/ada/one:1 \
                && skopeo --insecure-policy copy --src-tls-verify=false docker://\(host)/ada/one:1 dir:copy && ls copy
                """, scene)
            #expect(image.status == 0 && image.out.contains("manifest.json"), "\(image.err)")
            let log = try await run("curl -s \(server.url)/log", scene)
            #expect(log.out.contains("PUT /v2/ada/one/manifests/1 Basic"), "\(log.out)")

            let got = try await run("echo \(host) | docker-credential-authd get", scene)
            let json = try JSON(parsing: got.out)
            #expect(json["Username"] == "oauth2" && json["Secret"] == "token-1")
            #expect(json["ServerURL"]?.stringValue == String(host))
            let other = try await run("echo elsewhere.example | docker-credential-authd get", scene)
            #expect(other.status == 1 && other.out == "credentials not found in native keychain\n")
            #expect(other.err.contains("elsewhere.example"))
            #expect(try await run("docker-credential-authd list", scene).out == "{}\n")
            #expect(try await run("echo {} | docker-credential-authd store", scene).status == 64)
            let removed = try await run(
                """
                authc helper install docker --for https://other.example
                authc helper install docker --for https://other.example --remove; ls .local/bin
                authc helper install docker --for \(server.url) --remove; ls .local/bin; cat .docker/config.json
                """, scene)
            #expect(removed.out == "docker-credential-authd\n{}\n", "\(removed)")
            let ofSession = try await run(
                """
                authc helper install docker --for \(server.url) -s work
                authc helper install docker --for \(server.url) --remove
                """, scene)
            #expect(ofSession.status == 64 && ofSession.err.contains("-s work"), "\(ofSession)")
            _ = try await run("authc helper install docker --for \(server.url) -s work --remove", scene)
            let foreign = try await run(
                """
                echo '{"credHelpers": {"\(host)": "ecr-login"}}' > .docker/config.json
                authc helper install docker --for \(server.url); echo $?; cat .docker/config.json
                """, scene)
            #expect(foreign.out == "64\n{\"credHelpers\": {\"\(host)\": \"ecr-login\"}}\n", "\(foreign.out)")
            let kept = try await run(
                """
                echo '{"auths": {"a": {}}, "credHelpers": {"b": "c"}}' > .docker/config.json
                authc helper install docker --for \(server.url); stat -c %a .docker/config.json; cat .docker/config.json
                echo '[' > .docker/config.json; authc helper install docker --for \(server.url); echo $?
                """, scene)
            #expect(kept.out.hasPrefix("600\n") && kept.out.hasSuffix("64\n"), "\(kept.out)")
            for word in ["\"b\": \"c\"", "\"auths\"", "\"authd\""] { #expect(kept.out.contains(word), "\(kept.out)") }
        }
    }

    @Test("kubectl calls the exec plugin, in the version that it asks for, and only for the session's own server")
    func kubernetes() async throws {
        try await play { scene, server in
            let secure = try #require(server.output.text.firstMatch(of: /TLS port ([0-9]+)/)?.1)
            let configuration = """
                apiVersion: v1
                kind: Config
                current-context: one
                clusters: [{name: one, cluster: {server: "https://127.0.0.1:\(secure)", insecure-skip-tls-verify: true}}]
                contexts: [{name: one, context: {cluster: one, user: ada}}]
                users: [{name: ada, user: {exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: authc,
                  args: [helper, kubernetes], provideClusterInfo: true, interactiveMode: Never}}}]
                """
            _ = try scene.desktop.folder.write(configuration, to: "home/kube")
            let version = try await run("kubectl --kubeconfig kube get --raw /version", scene)
            #expect(version.status == 0 && version.out.contains("v1.32.0"), "\(version.out) \(version.err)")
            #expect(try await run("curl -s \(server.url)/log", scene).out.contains("GET /version Bearer"))

            let info =
                #"{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","#
                + #""spec":{"interactive":false}}"#
            let got = try await run("KUBERNETES_EXEC_INFO='\(info)' authc helper kubernetes -s forge", scene)
            let json = try JSON(parsing: got.out)
            #expect(json["apiVersion"] == "client.authentication.k8s.io/v1" && json["kind"] == "ExecCredential")
            #expect(json["status"]?["token"] == "token-1")
            let end = try #require(json["status"]?["expirationTimestamp"]?.stringValue)
            #expect(abs(try Date(end, strategy: .iso8601).timeIntervalSinceNow - 600) < 100)
            #expect(try await run("KUBERNETES_EXEC_INFO='\(info)' authc helper kubernetes", scene).status == 64)
            #expect(try await run("KUBERNETES_EXEC_INFO='{' authc helper kubernetes -s forge", scene).status == 64)
            let old = info.replacing("/v1\"", with: "/v1alpha1\"")
            #expect(try await run("KUBERNETES_EXEC_INFO='\(old)' authc helper kubernetes -s forge", scene).status == 64)
            let elsewhere = info.replacing("false}", with: #"false,"cluster":{"server":"https://elsewhere.example"}}"#)
            let refused = try await run("KUBERNETES_EXEC_INFO='\(elsewhere)' authc helper kubernetes -s forge", scene)
            #expect(refused.status == 77 && refused.out.isEmpty)
        }
    }

    @Test("curl reads the token from its configuration and from netrc; SASL gets its first response")
    func texts() async throws {
        try await play { scene, server in
            for line in [
                "authc helper curl \(server.url)/x | curl -sK - -o /dev/null -w '%{http_code}' \(server.url)/x",
                "curl -so /dev/null -w '%{http_code}' --netrc-file <(authc helper netrc \(server.url)) \(server.url)/x",
            ] {
                let got = try await run(line, scene)
                #expect(got.out == "200", "\(line): \(got.out) \(got.err)")
            }
            let other = try await run("authc helper curl https://elsewhere.example", scene)
            #expect(other.status == 77 && other.out.isEmpty)
            let first = try await run("authc helper sasl -s forge | base64 -d | tr '\\1' '|'", scene)
            #expect(first.out == "user=ada@example.org|auth=Bearer token-1||", "\(first.err)")
            let bearer = try await run(
                "authc helper sasl -s forge --mechanism oauthbearer --user 'a,b=c' | base64 -d | tr '\\1' '|'", scene)
            #expect(bearer.out == "n,a=a=2Cb=3Dc,|auth=Bearer token-1||", "\(bearer.err)")
        }
    }
}

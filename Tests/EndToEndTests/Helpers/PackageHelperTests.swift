import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// Package managers and wget with a session's token, against a server that checks it.
@Suite("Package managers that ask a helper", .serialized, .timeLimit(.minutes(3)))
struct PackageHelperTests {
    // MARK: pip

    /// The system may have a keyring.
    private static let onlyOwn = "PATH=$HOME/bin:$HOME/.local/bin"

    @Test("pip and uv download with the session's token, and not after its end")
    func pip() async throws {
        try await Scene.playRegistries { scene, server in
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
            let install = try await scene.run("\(Self.onlyOwn) authc helper install pip; cat .local/bin/keyring")
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
            #expect(try await scene.log(of: server).contains("GET /files/one-1.0-py3-none-any.whl Basic"))

            #expect(try await scene.authc(["logout", "-s", "forge"]).status == 0)
            let out = try await scene.run(download("http://oauth2@\(host)"))
            #expect(out.status != 0, "\(out.out)")
            let removed = try await scene.run("authc helper install pip --remove; ls .local/bin")
            #expect(removed.status == 0 && removed.out.isEmpty, "\(removed.out) \(removed.err)")
        }
    }

    @Test("the helper answers keyring's options as keyring does; other hosts and actions get status 1 or 65")
    func keyringOptions() async throws {
        try await Scene.playRegistries { scene, server in
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
            #expect(stored.status == 64 && stored.out.isEmpty, "\(stored.err)")
            // Another program of that name stays.
            let other = try await scene.run(
                """
                echo true > bin/keyring; chmod +x bin/keyring
                install() { \(Self.onlyOwn) authc helper install pip "$@"; }
                install; echo $?; ls .local/bin; mv bin/keyring .local/bin
                install; echo $?; install --remove; echo $?; cat .local/bin/keyring
                rm .local/bin/keyring; install --for \(server.url); echo $?
                install --dry-run -s forge; ls .local/bin
                """)
            #expect(other.out == "64\n64\n64\ntrue\n64\n", "\(other.out) \(other.err)")
            #expect(other.err.contains("exec authc helper pip -s forge \"$@\""), "\(other.err)")
            #expect(try await scene.authc(["logout", "-s", "forge"]).status == 0)
            let out = try await scene.run("authc helper pip get \(url) ada")
            #expect(out.status == 1 && out.out.isEmpty && !out.err.isEmpty)
        }
    }

    // MARK: cargo

    @Test("cargo's requests are answered line by line")
    func cargoProtocol() async throws {
        try await Scene.playRegistries { scene, server in
            func request(_ kind: String, _ url: String, _ more: String = "") -> String {
                #"{"v":1,"registry":{"index-url":"\#(url)","name":"one"},"kind":"\#(kind)"\#(more),"args":["#
            }
            let index = "sparse+\(server.url)/index/"
            let input = [
                request("get", index, #","operation":"read""#) + "]}", request("get", index) + #""--bearer"]}"#,
                request("get", "sparse+https://elsewhere.example/index/") + "]}", request("get", "ssh://x/y") + "]}",
                request("login", index, #","token":"secret""#) + "]}", request("logout", index) + "]}", "{}",
                #"{"v":2,"kind":"get"}"#,
            ]
            let text = try scene.desktop.folder.write(input.joined(separator: "\n") + "\n", to: "home/requests")
            let got = try await scene.run("authc helper cargo --cargo-plugin < \(text)")
            #expect(got.status == 0, "\(got.err)")
            let lines = try got.out.split(separator: "\n").map { try JSON(parsing: String($0)) }
            try #require(lines.count == 9, "\(got.out)")
            #expect(lines[0] == ["v": [1]])
            let answer = try #require(lines[1]["Ok"])
            #expect(answer["kind"] == "get" && answer["token"] == "token-1" && answer["cache"] == "expires")
            #expect(answer["operation_independent"] == true)
            let end = try #require(answer["expiration"]?.doubleValue)
            #expect(abs(end - Date().timeIntervalSince1970 - 600) < 100)
            #expect(lines[2]["Ok"]?["token"] == "Bearer token-1")
            for number in [3, 4] { #expect(lines[number] == ["Err": ["kind": "url-not-supported"]]) }
            for number in [5, 6] { #expect(lines[number] == ["Err": ["kind": "operation-not-supported"]]) }
            for number in [7, 8] { #expect(lines[number]["Err"]?["kind"] == "other") }
            #expect(got.err.contains("elsewhere.example") && !got.err.contains("secret"), "\(got.err)")
            #expect(try await scene.authc(["logout", "-s", "forge"]).status == 0)
            let out = try await scene.run("head -1 \(text) | authc helper cargo")
            #expect(out.out == "{\"v\":[1]}\n{\"Err\":{\"kind\":\"not-found\"}}\n", "\(out.out)")
            #expect(!out.err.isEmpty)
        }
    }

    @Test("the line in cargo's configuration is added below the registry's index, and removed again")
    func cargoConfiguration() async throws {
        try await Scene.playRegistries { scene, server in
            let install = "authc helper install cargo --for \(server.url)"
            let early = try await scene.run(install)
            #expect(early.status == 64 && early.err.contains("sparse+\(server.url)/index/"), "\(early.err)")
            let configuration = """
                [registries.other]
                index = "sparse+\(server.url)0/index/"

                [registries.one]   # ours
                  index = 'sparse+\(server.url)/index/'
                [net]
                offline = false

                """
            _ = try scene.desktop.folder.write(configuration, to: "home/.cargo/config.toml")
            let line = "credential-provider = \"cargo-credential-authd\""
            let first = try await scene.run("\(install); \(install); cat .cargo/config.toml")
            #expect(first.err.contains(line), "\(first.err)")
            let changed = configuration.replacing("/index/'\n", with: "/index/'\n\(line)\n")
            #expect(first.out == changed, "\(first.out)")
            let script = try await scene.run("cat .local/bin/cargo-credential-authd")
            #expect(script.out == "#!/bin/sh\nexec authc helper cargo \"$@\"\n")
            let removed = try await scene.run("\(install) --remove; cat .cargo/config.toml; ls .local/bin")
            #expect(removed.out == configuration, "\(removed.out) \(removed.err)")
            let foreign = "[registries.a]\nindex=\"\(server.url)\"\ncredential-provider=\"x\"\n"
            _ = try scene.desktop.folder.write(foreign, to: "home/.cargo/config.toml")
            let other = try await scene.run(install)
            #expect(other.status == 64 && other.err.contains("credential-provider=\"x\""), "\(other.err)")
        }
    }

    // MARK: npm

    @Test("npm reads the token from the variable that its configuration names")
    func npm() async throws {
        let npm = try Peer.program("npm", of: "node")
        try await Scene.playRegistries { scene, server in
            let host = server.url.dropFirst("http://".count)
            try scene.writeRecipe(
                ":_authToken", to: ".npmrc",
                replacing: [
                    ("https://npm.example.org", server.url + "/npm"), ("//npm.example.org", "//\(host)/npm"),
                ])
            let line = "authc exec --for \(server.url) --env NPM_TOKEN=access_token -- \(npm) view one version"
            let got = try await scene.run(line)
            #expect(got.status == 0 && got.out == "1.0.0\n", "\(got.out) \(got.err)")
            #expect(try await scene.log(of: server).contains("GET /npm/one Bearer"))
            #expect(try await scene.authc(["logout", "-s", "forge"]).status == 0)
            let out = try await scene.run(line)
            #expect(out.status == 3 && out.out.isEmpty, "\(out.err)")
        }
    }

    // MARK: wget

    @Test("wget sends the token to the session's server, not to a redirect's, and its arguments do not contain it")
    func wget() async throws {
        try await Scene.playRegistries { scene, server in
            let got = try await scene.run("authc helper wget \(server.url)/x -- -nv -O got && cat got")
            #expect(got.status == 0 && got.out.contains("v1.32.0"), "\(got.err)")
            let redirect = try await scene.run("authc helper wget \(server.url)/elsewhere -- -nv -O -")
            #expect(redirect.status == 8 && redirect.out.isEmpty, "\(redirect.err)")
            // Without the line, wget sends the token there too.
            let followed = try await scene.run(
                """
                echo "header = Authorization: Bearer $(authc token -s forge)" > wgetrc
                WGETRC=wgetrc wget -nv -O - \(server.url)/elsewhere
                """)
            #expect(followed.status == 0, "\(followed.err)")
            let log = try await scene.log(of: server)
            #expect(log.split(separator: "GET /arrived Bearer").count == 2 && log.contains("GET /x Bearer"), "\(log)")
            // A program in wget's place sees its arguments and variables.
            let seen = try await scene.run(
                """
                { printf '#!/bin/sh\\n[ $1 = --version ] && echo GNU Wget 1 && exit; '
                printf 'tr "\\\\0" " " < /proc/$$/cmdline; tr "\\\\0" " " < /proc/$$/environ; cat $WGETRC'; } > bin/wget
                chmod +x bin/wget; authc helper wget \(server.url)/x -- -q
                """)
            let parts = seen.out.components(separatedBy: "header = Authorization: Bearer token-1\nmax_redirect = 0\n")
            #expect(parts.count == 2 && !parts[0].contains("token-"), "\(seen.out) \(seen.err)")
            #expect(parts[0].contains("wget \(server.url)/x -q"), "\(seen.out)")
            let other = try await scene.run("authc helper wget https://elsewhere.example/x")
            #expect(other.status == 77 && other.out.isEmpty && other.err.contains("elsewhere.example"))
            #expect(try await scene.authc(["logout", "-s", "forge"]).status == 0)
            let out = try await scene.run("authc helper wget \(server.url)/x")
            #expect(out.status == 3 && out.out.isEmpty && !out.err.isEmpty, "\(out.status) \(out.err)")
        }
    }

    @Test("wget gets no other address and no option that adds one")
    func wgetAddresses() async throws {
        try await Scene.playRegistries { scene, server in
            let secure = try #require(server.output.text.firstMatch(of: /TLS port ([0-9]+)/)?.1)
            // What wget would do with them.
            let plain = "wget -q -P got --no-check-certificate --header 'Authorization: Bearer x'"
            _ = try await scene.run(
                "\(plain) \(server.url)/x https://127.0.0.1:\(secure)/second; \(plain) -r \(server.url)/links")
            let sent = try await scene.log(of: server)
            #expect(sent.contains("GET /second Bearer") && sent.contains("GET /linked Bearer"), "\(sent)")
            for words in [
                "\(server.url)/other", "127.0.0.1:\(secure)/other", "-r", "--recursive", "--recur", "-m", "--mirror",
                "-p", "--page-requisites", "-i list", "--input-file=list", "--inp=list", "-e input=list", "--execute=x",
                "--config=x", "-H", "--span-hosts", "-qr", "-nvr", "--max-redirect=5", "-O", "-O x -r", "--no-config",
            ] {
                let refused = try await scene.run("authc helper wget \(server.url)/never -- \(words)")
                #expect(refused.status == 64 && refused.out.isEmpty, "\(words): \(refused.status) \(refused.err)")
                #expect(refused.err.contains("pass one URL, and no option that adds others"), "\(refused.err)")
            }
            for words in ["-qO-", "-q -O -", "-nv --tries=1 --timeout=20 --output-document=- --header='X: y'"] {
                let got = try await scene.run("authc helper wget \(server.url)/x -- \(words)")
                #expect(got.status == 0 && got.out.contains("v1.32.0"), "\(words): \(got.err)")
            }
            let log = try await scene.log(of: server)
            #expect(!log.contains("/never") && !log.contains("/other"), "\(log)")
            for (first, word) in [("GNU Wget2 2.1.0 - multithreaded", "Wget2"), ("BusyBox v1.36", "another program")] {
                let other = try await scene.run(
                    """
                    printf '#!/bin/sh\\necho "\(first)"; cat "$WGETRC"' > bin/wget; chmod +x bin/wget
                    authc helper wget \(server.url)/x
                    """)
                #expect(other.status == 64 && other.out.isEmpty, "\(other.out)")
                #expect(other.err.contains("the helper needs GNU Wget 1; this wget is \(word)"), "\(other.err)")
            }
        }
    }

    // MARK: Terraform

    @Test("Terraform gets a token for the session's host, and {} for others; `--remove` restores its configuration")
    func terraformProtocol() async throws {
        try await Scene.playRegistries { scene, server in
            let secure = try #require(server.output.text.firstMatch(of: /TLS port ([0-9]+)/)?.1)
            let install = try await scene.run("authc helper install terraform; cat .terraformrc")
            #expect(install.out == "credentials_helper \"authd\" {}\n", "\(install.err)")
            let program = ".terraform.d/plugins/terraform-credentials-authd"
            let got = try await scene.run("\(program) get 127.0.0.1:\(secure)")
            #expect(got.status == 0 && got.out == "{\"token\":\"token-1\"}\n", "\(got.err)")
            let elsewhere = try await scene.run("\(program) get app.terraform.io")
            #expect(elsewhere.status == 0 && elsewhere.out == "{}\n" && !elsewhere.err.isEmpty, "\(elsewhere.out)")
            for host in ["127.0.0.1:\(secure)/x", "x@127.0.0.1:\(secure)"] {
                let other = try await scene.run("\(program) get \(host)")
                #expect(other.status == 64 && other.out.isEmpty && other.err.contains("not a host"), "\(host)")
            }
            for action in ["store", "forget"] {
                let refused = try await scene.run(
                    "echo '{\"token\":\"secret\"}' | \(program) \(action) app.terraform.io")
                #expect(refused.status == 64 && refused.out.isEmpty && !refused.err.contains("secret"))
            }
            #expect(try await scene.authc(["logout", "-s", "forge"]).status == 0)
            let out = try await scene.run("\(program) get 127.0.0.1:\(secure)")
            #expect(out.status == 0 && out.out == "{}\n" && !out.err.isEmpty)
            let removed = try await scene.run(
                "authc helper install terraform --remove; cat .terraformrc; ls .terraform.d/plugins")
            #expect(removed.status == 0 && removed.out.isEmpty, "\(removed.out) \(removed.err)")
            let other = try await scene.run(
                "echo 'credentials_helper \"x\" {}' > .terraformrc; authc helper install terraform; cat .terraformrc")
            #expect(other.out == "credentials_helper \"x\" {}\n" && other.err.contains(".terraformrc"), "\(other.err)")
        }
    }
}

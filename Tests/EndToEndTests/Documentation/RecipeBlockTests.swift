import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// The blocks of Docs/recipes.md that a user pastes into a shell, with another server's address in them and nothing
/// else changed.
@Suite("Recipes: blocks for a shell", .serialized, .timeLimit(.minutes(3)))
struct RecipeBlockTests {
    /// The block that has this text, with other addresses. The longest one is replaced first.
    private func block(_ text: String, _ names: [String: String]) throws -> String {
        var block = try Recipes.block(with: text)
        for (name, replacement) in names.sorted(by: { $0.key.count > $1.key.count }) {
            #expect(block.contains(name), "the recipe does not name \(name)")
            block = block.replacing(name, with: replacement)
        }
        return block
    }

    @Test("any program: a token in a variable, in a file that follows, and in the shell")
    func anyProgram() async throws {
        try await Scene.playRegistries(as: "work") { scene, server in
            let programs = """
                printf '#!/bin/sh\\necho "gh $* $GH_TOKEN"\\n' > bin/gh
                printf '#!/bin/sh\\necho "server $(cat "$TOKEN_FILE")"\\n' > bin/my-server; chmod +x bin/*; set -e

                """
            let output = try await scene.run(
                programs + block("my-server", ["https://api.github.com": server.url]) + "echo \"shell $AUTHD_TOKEN\"")
            #expect(output.out == "gh repo list token-1\nserver token-1\nshell token-1\n", "\(output)")
        }
    }

    @Test("git")
    func git() async throws {
        try await Scene.playRegistries { scene, server in
            #expect(try await scene.run("git init -q --bare ../repositories/one.git").status == 0)
            let names = [
                "https://git.example.org/one.git": server.url + "/git/one.git", "https://git.example.org": server.url,
            ]
            let output = try await scene.run("set -e\n" + block("git clone https", names) + "ls -d one/.git")
            #expect(output.status == 0 && output.out == "one/.git\n", "\(output)")
        }
    }

    @Test("docker and skopeo, over TLS")
    func docker() async throws {
        try await Scene.playRegistries(images: true) { scene, server in
            let secure = try #require(server.output.text.firstMatch(of: /TLS port ([0-9]+)/)?.1)
            let certificate = try #require(server.output.text.firstMatch(of: /certificate (\S+)/)?.1)
            let setUp = """
                export SSL_CERT_FILE=\(certificate); set -e
                \(Scene.ociImage)
                authc exec --for \(server.url) -- sh -c 'skopeo --insecure-policy copy -q --dest-tls-verify=false \
                    --dest-creds "oauth2:$AUTHD_TOKEN" oci:image docker://127.0.0.1:\(server.port)/ada/one'

                """
            let output = try await scene.run(
                setUp + block("skopeo inspect", ["registry.example.org": "127.0.0.1:\(secure)"]))
            let image = try JSON(parsing: output.out)
            #expect(output.status == 0 && image["Name"]?.stringValue == "127.0.0.1:\(secure)/ada/one", "\(output)")
        }
    }

    @Test("curl and wget")
    func downloads() async throws {
        try await Scene.playRegistries { scene, server in
            let curl = try await scene.run(
                "set -e\n" + block("authc helper curl", ["https://api.example.org": server.url]))
            #expect(curl.status == 0 && curl.out.components(separatedBy: "v1.32.0").count == 3, "\(curl)")
            let files = ["https://files.example.org": server.url]
            let wget = try await scene.run("set -e\n" + block("authc helper wget", files) + "cat one.tar")
            #expect(wget.status == 0 && wget.out.contains("v1.32.0"), "\(wget)")
            #expect(try await scene.log(of: server).components(separatedBy: "GET /me ").count == 3)
        }
    }

    @Test("pip and uv")
    func pip() async throws {
        try await Scene.playRegistries { scene, server in
            let (pip, uv) = (try Peer.program("pip", of: "pip"), try Peer.program("uv", of: "pip"))
            let names = [
                "https://pypi.example.org": server.url,
                "https://oauth2@pypi.example.org": server.url.replacing("http://", with: "http://oauth2@"),
            ]
            var lines = try block("uv pip install", names).split(separator: "\n")
            // The system may have a keyring.
            let install = "PATH=$HOME/bin:$HOME/.local/bin " + lines.removeFirst()
            let output = try await scene.run(
                """
                set -e; exec < /dev/null; ln -s \(pip) \(uv) bin/; export UV_NO_CONFIG=1 UV_NO_CACHE=1
                \(install)
                /usr/bin/python3 -m venv --without-pip venv; export VIRTUAL_ENV=$PWD/venv PIP_NO_CACHE_DIR=1
                \(lines.joined(separator: "\n"))
                ls *.whl venv/lib/python3*/site-packages
                """)
            #expect(output.status == 0 && output.out.contains("one-1.0-py3-none-any.whl\n"), "\(output)")
            #expect(output.out.contains("one-1.0.dist-info"), "\(output)")
        }
    }

    @Test("cargo, npm and Terraform")
    func packages() async throws {
        let npm = try Peer.program("npm", of: "node")
        try await Scene.playRegistries { scene, server in
            try scene.writeRecipe(
                "[registries.example]", to: ".cargo/config.toml",
                replacing: [("https://registry.example.org", server.url)])
            let cargo = try await scene.run(
                "set -e\n" + block("helper install cargo", ["https://registry.example.org": server.url])
                    + "cat .cargo/config.toml")
            #expect(cargo.status == 0, "\(cargo)")
            #expect(cargo.out.contains("credential-provider = \"cargo-credential-authd\""), "\(cargo)")

            let host = server.url.dropFirst("http://".count)
            try scene.writeRecipe(
                ":_authToken", to: ".npmrc",
                replacing: [
                    ("https://npm.example.org", server.url + "/npm"), ("//npm.example.org", "//\(host)/npm"),
                ])
            let shown = try await scene.run(
                "export PATH=$PATH:\(URL(filePath: npm).deletingLastPathComponent().path)\n"
                    + block("npm view one", ["https://npm.example.org": server.url]))
            #expect(shown.status == 0 && shown.out == "1.0.0\n", "\(shown)")

            let terraform = try await scene.run(
                "set -e\n" + block("helper install terraform", [:]) + "cat .terraformrc")
            #expect(terraform.status == 0 && terraform.out == "credentials_helper \"authd\" {}\n", "\(terraform)")
        }
    }

    @Test("Python: the package of the repository, and requests")
    func python() async throws {
        let source = SourceTree.path("Sources/authd-client-python")
        let (pip, python) = (
            try Peer.program("pip", of: "authd-client"), try Peer.program("python", of: "authd-client")
        )
        try await Scene.playRegistries { scene, server in
            let program = try block("requests.get(", ["https://api.example.org": server.url])
            _ = try scene.desktop.folder.write(program, to: "home/me.py")
            let output = try await scene.run(
                """
                set -e; ln -s \(pip) bin/; mkdir Sources; cp -r \(source) Sources/; export PYTHONPATH=$PWD/site
                export PIP_TARGET=$PWD/site PIP_NO_BUILD_ISOLATION=0 PIP_NO_INDEX=1 PIP_NO_DEPS=1 PIP_NO_CACHE_DIR=1
                \(block("pip install ./Sources", [:]))
                \(python) me.py
                """)
            #expect(output.status == 0, "\(output)")
            #expect(try await scene.log(of: server).contains("GET /me Bearer"))
        }
    }
}

import Foundation
import TestSupport
import Testing

/// Package managers that `make test` does not install, with a session's token: those that PACKAGE_PROGRAMS names must
/// be installed.
@Suite("Package managers that must be installed", .serialized, .timeLimit(.minutes(3)))
struct PackageProgramInstalledTests {
    private static let chosen = (ProcessInfo.processInfo.environment["PACKAGE_PROGRAMS"] ?? "cargo terraform")
        .split(separator: " ").map(String.init)

    @Test("a package comes from a registry that requires a token, and does not without one", arguments: Self.chosen)
    func fetches(program: String) async throws {
        switch program {
        case "cargo": try await cargo()
        case "terraform": try await terraform()
        default: Issue.record("there is no test with \(program)")
        }
    }

    /// A package from a registry that requires a token.
    private func cargo() async throws {
        try await Scene.playRegistries { scene, server in
            try scene.writeRecipe(
                "[registries.example]", to: ".cargo/config.toml",
                replacing: [("https://registry.example.org", server.url)])
            let package = """
                [package]
                name = "two"
                version = "1.0.0"
                edition = "2021"
                [dependencies]
                one = { version = "1", registry = "example" }

                """
            _ = try scene.desktop.folder.write(package, to: "home/two/Cargo.toml")
            _ = try scene.desktop.folder.write("", to: "home/two/src/lib.rs")
            // cargo may be a program of rustup, which has its programs in the user's home.
            let environment = ProcessInfo.processInfo.environment
            let toolchains = environment["RUSTUP_HOME"] ?? (environment["HOME"] ?? "") + "/.rustup"
            let fetch = "cd two; RUSTUP_HOME=\(toolchains) cargo fetch -v"
            let early = try await scene.run(fetch)
            #expect(early.status != 0)
            let install = try await scene.run("authc helper install cargo --for \(server.url)")
            #expect(install.status == 0, "\(install.err)")
            let got = try await scene.run(fetch)
            #expect(got.status == 0, "\(got.err)")
            #expect(!got.err.contains("token-"))
            #expect(try await scene.log(of: server).contains("GET /crates/one/1.0.0/download plain"))
            #expect(try await scene.authc(["logout", "-s", "forge"]).status == 0)
            let out = try await scene.run("rm -rf .cargo/registry; \(fetch)")
            #expect(out.status != 0, "\(out.err)")
        }
    }

    /// A module from a registry that requires a token.
    private func terraform() async throws {
        try await Scene.playRegistries { scene, server in
            let ports = try #require(server.output.text.firstMatch(of: /TLS port ([0-9]+)\ncertificate (.*)/))
            let module = """
                module "one" {
                  source  = "127.0.0.1:\(ports.1)/ada/one/null"
                  version = "1.0.0"
                }

                """
            _ = try scene.desktop.folder.write(module, to: "home/two/main.tf")
            let get = "cd two; CHECKPOINT_DISABLE=1 SSL_CERT_FILE=\(ports.2) terraform get -no-color"
            #expect(try await scene.run(get).status != 0)
            #expect(try await scene.run("authc helper install terraform").status == 0)
            let got = try await scene.run("\(get) && ls .terraform/modules/one")
            #expect(got.status == 0 && got.out.contains("main.tf"), "\(got.out) \(got.err)")
            #expect(try await scene.log(of: server).contains("GET /modules/ada/one/null/versions Bearer"))
        }
    }
}

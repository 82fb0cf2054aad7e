import Foundation
import TestSupport
import Testing

/// The programs of Docs/clients that need no library of ours.
@Suite("Clients in other languages", .timeLimit(.minutes(4)))
struct ClientExampleTests {
    /// How an example is built and run, and the program that this takes.
    struct Language: Sendable, CustomTestStringConvertible {
        let name: String
        let tool: String
        var build = "true"
        let run: String

        var testDescription: String { name }

        static let all = [
            Language(name: "Node", tool: "node", run: "node $clients/node/token.mjs"),
            Language(name: "Go", tool: "go", build: "go build -o token $clients/go/token.go", run: "./token"),
            Language(name: "Rust", tool: "rustc", build: "rustc -o token $clients/rust/token.rs", run: "./token"),
            Language(
                name: "Java", tool: "javac", build: "javac -d . $clients/java/Token.java", run: "java -cp . Token"),
        ]

        /// `make clients` names those that have to be here; without it, those that are here.
        static var chosen: [Language] {
            let environment = ProcessInfo.processInfo.environment
            if let names = environment["CLIENT_LANGUAGES"]?.split(separator: " ") {
                return all.filter { names.contains(Substring($0.name)) }
            }
            let folders = (environment["PATH"] ?? "").split(separator: ":")
            return all.filter { language in
                folders.contains { FileManager.default.isExecutableFile(atPath: $0 + "/" + language.tool) }
            }
        }
    }

    private static let clients = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Docs/clients").path

    @Test("an example gets a token for an origin, and prints why there is none", arguments: Language.chosen)
    func example(language: Language) async throws {
        try await Scene.play(signedInTo: .programs, ["repositories", ""]) { scene, server in
            // rustup looks for its compilers in the home, which is another one here.
            let environment = ProcessInfo.processInfo.environment
            let rustup = environment["RUSTUP_HOME"] ?? "\(environment["HOME"] ?? "")/.rustup"
            // A program that only installs a compiler when it is called, and has not, is not one.
            let there = try await scene.run(
                "export RUSTUP_HOME=\(rustup); \(language.tool) --version || \(language.tool) version")
            if there.status != 0, environment["CLIENT_LANGUAGES"] == nil { return }
            let done = try await scene.run(
                """
                clients=\(Self.clients); export RUSTUP_HOME=\(rustup)
                \(language.build) || exit 9
                \(language.run) \(server.url); echo $?
                \(language.run) https://elsewhere.example; echo $?
                AUTHD_SOCKET=$PWD/none \(language.run); echo $?
                authc logout -s forge; \(language.run); echo $?
                """)
            #expect(
                done.out.contains(/^a token of \d+ bytes\n0\n1\n1\n[^\n]*\n?1\n$/),
                "\(done.out)\(done.err)")
            for kind in ["denied", "not_signed_in"] { #expect(done.err.contains(kind), "\(done.err)") }
            #expect(!(done.out + done.err).contains("token-"))
        }
    }

    @Test("in a shell, curl gets the token on its input")
    func shell() async throws {
        try await Scene.play(signedInTo: .programs, ["repositories", ""]) { scene, server in
            let done = try await scene.run("\(Self.clients)/shell/token \(server.url); \(Self.clients)/shell/token")
            #expect(done.status == 77 && done.out.contains("\"status\": \"Success\""), "\(done.out)\(done.err)")
            #expect(done.err.contains("https://api.example.org"), "\(done.err)")
        }
    }
}

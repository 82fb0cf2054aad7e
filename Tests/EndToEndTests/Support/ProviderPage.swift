import Foundation
import StandInBackends
import TestSupport

/// A page of Docs/providers, as a user follows it: its commands are typed as they stand there.
struct ProviderPage: Sendable {
    let name: String
    let text: String

    private static let folder = "Docs/providers"

    static func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: SourceTree.path(folder))
            .map { String($0.dropLast(".md".count)) }.filter { $0 != "README" }.sorted()
    }

    init(name: String, text: String) {
        (self.name, self.text) = (name, text)
    }

    init(_ name: String) throws {
        self.name = name
        text = try SourceTree.text("\(Self.folder)/\(name).md")
    }

    /// The blocks of a language.
    func blocks(_ language: String) -> [String] {
        text.components(separatedBy: "```\(language)\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
    }

    /// The lines of its first commands.
    var commands: [String] {
        (blocks("sh").first ?? "").split(separator: "\n").map(String.init)
    }

    /// The calls with a session that its text names.
    var inlineCommands: [String] {
        text.matches(of: #/`(authc (?:request|token) [^`]+)`/#).map { String($0.1).replacing("\n", with: " ") }
    }

    /// The name that its commands use.
    var provider: String { String((commands.last ?? "").split(separator: " ").last ?? "") }

    /// The value of an option of `authc provider add`.
    func value(_ option: String) -> String? {
        let words = (commands.first ?? "").split(separator: " ").map(String.init)
        return words.firstIndex(of: option).map { words[$0 + 1] }
    }
}

extension Scene {
    func profilePath(_ provider: String) -> String {
        desktop.folder.path + "/config/authd/providers/\(provider).toml"
    }

    /// Types a line of a page.
    func type(_ line: String) async throws -> Child.Output {
        try await shell(line.replacing(#/^authc /#, with: "\"$0\" "))
    }

    /// Follows a page up to its sign-in. The profile then names a server of this machine instead of the provider's, and is
    /// loaded again.
    /// - Parameter issuer: the server's, if the profile only names an issuer.
    func add(_ page: ProviderPage, at url: String, issuer: String? = nil) async throws {
        let port = try FreePort.find()
        let added = try await type(page.commands[0] + " --port \(port)")
        guard added.status == 0, added.err.contains("authc login \(page.provider)\n") else { throw Failure(added.err) }
        let path = profilePath(page.provider)
        let lines = try String(contentsOfFile: path, encoding: .utf8).components(separatedBy: "\n").map { line in
            if let issuer, line.hasPrefix("issuer = ") { return "issuer = \"\(issuer)\"" }
            return line.hasPrefix("#") ? line : line.replacing(/https:\/\/[A-Za-z0-9.-]+/, with: url)
        }
        try lines.joined(separator: "\n").write(toFile: path, atomically: true, encoding: .utf8)
        let reloaded = try await authc(["reload"])
        guard reloaded.status == 0 else { throw Failure(reloaded.err) }
    }

    /// Types the page's sign-in, and approves it in a browser.
    func login(with page: ProviderPage, secret: String? = nil) async throws -> Child.Output {
        var line = page.commands[1].replacing(#/^authc /#, with: "exec \"$0\" ") + " --method browser"
        if let secret {
            line += " --secret-fd client_secret=3 3<" + (try desktop.folder.write(secret, to: "client-secret"))
        }
        let login = try await Child(["bash", "-c", line, Programs.authc], environment: desktop.environment)
        let url = try await shownAddress(of: login)
        let end = try await consent(url)
        guard end.contains("Signed in to") else { throw Failure("\(end)\n\(await login.output().err)") }
        return await login.output()
    }

    /// Signs in with a code on another device, after the provider has answered that it is not entered yet.
    func loginByCode(_ server: ProviderStandIn, _ page: ProviderPage) async throws -> Child.Output {
        let line = page.commands[1].replacing(#/^authc /#, with: "exec \"$0\" ")
        let login = try await Child(["bash", "-c", line, Programs.authc], environment: desktop.environment)
        guard await login.err.wait(for: "code: "),
            let code = login.err.text.firstMatch(of: /code: ([A-Z]{4}-[A-Z]{4})/)?.1
        else { throw Failure("no code was shown: \(await login.err.all())") }
        // The first answers have status 200 and an error.
        try await server.waitForCounts { $0.devicePolls >= 1 }
        try server.decide(userCode: String(code), approve: true)
        return await login.output()
    }
}

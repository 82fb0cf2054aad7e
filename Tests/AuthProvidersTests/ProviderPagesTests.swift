import AuthModel
import AuthProviders
import Foundation
import Testing

@Suite("Docs/providers")
struct ProviderPagesTests {
    private static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Docs/providers")

    private static func page(_ name: String) throws -> String {
        try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
    }

    @Test("the first page links to each page, and its profile is valid")
    func profiles() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).filter { $0 != "README.md" }
        #expect(names.count == 8)
        let index = try Self.page("README.md")
        for name in names {
            #expect(index.contains("(\(name))"), "\(name) is not linked")
            let page = try Self.page(name)
            let text = try #require(
                page.components(separatedBy: "```toml\n").dropFirst().first, "\(name) has no profile")
            let profile = try ProfileReader.read(text.components(separatedBy: "\n```")[0], source: name).get()
            let oauth = try #require(profile.oauth, "\(name)")
            #expect(oauth.clientID.contains("YOUR") || oauth.clientID == "authd", "\(name) names somebody's client")
            // If the redirect is not the default, the page says what to register.
            let redirect = oauth.redirect.uri
            #expect(
                oauth.redirect == .loopback(.usual) || page.components(separatedBy: redirect).count >= 3,
                "\(name): \(redirect)")
        }
    }
}

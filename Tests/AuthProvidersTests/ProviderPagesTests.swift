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

    /// The profiles that `authc provider add` writes, with samples in place of the user's values.
    private static func starters() throws -> [String: String] {
        let folder = folder.deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Sources/authc/Starters")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".toml") }
        return try Dictionary(
            uniqueKeysWithValues: names.map {
                ($0, try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8))
            })
    }

    @Test("the first page links to each page, whose profile is a starter of authc and valid")
    func profiles() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).filter { $0 != "README.md" }
        var starters = try Self.starters()
        #expect(names.count == 14 && starters.count == 14)
        let index = try Self.page("README.md")
        for name in names {
            #expect(index.contains("(\(name))"), "\(name) is not linked")
            let page = try Self.page(name)
            let text = try #require(
                page.components(separatedBy: "```toml\n").dropFirst().first, "\(name) has no profile")
            let block = text.components(separatedBy: "\n```")[0] + "\n"
            let starter = starters.first { $0.value == block }?.key
            #expect(starter != nil, "\(name): no starter is like its profile")
            if let starter { starters[starter] = nil }
            let profile = try ProfileReader.read(block, source: name)
            #expect(starter == profile.name + ".toml")
            let oauth = try #require(profile.oauth, "\(name)")
            #expect(oauth.clientID == "YOUR-CLIENT-ID", "\(name) names somebody's client")
            // What to register: the comment at the beginning names a fixed redirect, and so does the page.
            let redirect = oauth.redirect.uri
            let advice = block.split(separator: "\n").prefix { $0.hasPrefix("#") }.joined(separator: "\n")
            #expect(advice.contains("https://"), "\(name) has no source")
            #expect(
                oauth.redirect == .loopback(.usual)
                    || advice.contains(redirect) && page.components(separatedBy: redirect).count >= 4,
                "\(name): \(redirect)")
        }
        #expect(starters.isEmpty, "without a page: \(starters.keys)")
    }
}

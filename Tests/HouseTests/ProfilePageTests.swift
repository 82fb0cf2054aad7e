import Foundation
import Testing

@Suite("Docs/profiles.md: a guide, then a reference")
struct ProfilePageTests {
    /// Ten minutes, at 220 words a minute.
    private static let longestGuide = 2200

    private static func page() throws -> String { try #require(ProjectFiles.file("Docs/profiles.md")).text }

    @Test("the guide takes ten minutes to read, samples included, and the reference follows it")
    func length() throws {
        let parts = try Self.page().components(separatedBy: "\n## ")
        #expect(parts.dropFirst().map { $0.prefix { $0 != "\n" } } == ["Guide", "Reference"])
        let guide = parts[0] + parts[1]
        #expect(guide.split(whereSeparator: \.isWhitespace).count <= Self.longestGuide)
    }

    @Test("each kind of sign-in is explained in the guide, and each table of a profile in the reference")
    func order() throws {
        let parts = try Self.page().components(separatedBy: "\n## Reference\n")
        for sample in [
            "name = \"library\"", "[[sign_in.guarded.before]]", "[[sign_in.guarded.next]]", "[sign_in.link]",
            "name = \"django\"",
            "kind = \"key\"", "[sign_in.code.challenge]", "[endpoints.books]",
        ] { #expect(parts[0].contains(sample) && !parts[1].contains("\n" + sample), "\(sample)") }
        for table in [
            "`client_id`", "`issuer`", "`authorization`", "`kind`", "`poll`", "`pending`", "`access_token`",
            "`envelope`", "`list`",
            "`cache_seconds`", "`pages`", "`capture`",
        ] { #expect(parts[1].contains("| \(table)") && !parts[0].contains("| \(table)"), "\(table)") }
    }

    @Test("each link to a part of it, here or on another page, leads to one")
    func anchors() throws {
        let page = try Self.page()
        var known = Set(page.matches(of: /<a id="([^"]+)">/).map { String($0.1) })
        for heading in page.matches(of: /(?m)^##+ (.+)$/).map({ $0.1 }) {
            known.insert(
                String(heading.lowercased().filter { $0.isLetter || $0.isNumber || "-_ ".contains($0) })
                    .replacing(" ", with: "-"))
        }
        var links = page.matches(of: /\]\(#([^)]+)\)/).map { $0.1 }
        for file in ProjectFiles.files(under: "Docs") where file.path.hasSuffix(".md") {
            links += file.text.matches(of: /profiles\.md#([^)]+)\)/).map { $0.1 }
        }
        #expect(links.count > 10)
        for link in links { #expect(known.contains(String(link)), "\(link)") }
    }
}

import Foundation
import TestSupport

/// A documentation site that was built, as files.
struct Site {
    struct Page {
        var ids: [String] = []
        /// What `<a>` leads to.
        var links: [String] = []
        /// What a browser fetches to show the page.
        var parts: [String] = []
    }

    let folder: String
    /// By their path in the site.
    let pages: [String: Page]

    /// Builds the site of a tree in a folder.
    static func build(
        of tree: String = SourceTree.root, in folder: String, _ desktop: Desktop
    ) async throws -> Child.Output {
        try await desktop.run([tree + "/Sources/Packaging/site/build", folder])
    }

    init(folder: String) throws {
        self.folder = folder
        let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        var pages: [String: Page] = [:]
        for name in names where name.hasSuffix(".html") {
            pages[name] = Page(html: try Data(contentsOf: URL(filePath: folder + "/" + name)))
        }
        self.pages = pages
    }

    /// Where a link of a page leads: a path in the site, and the part of the page. `nil` if it leads out of the site.
    func target(of link: String, from page: String) -> (path: String, fragment: String)? {
        guard link.firstMatch(of: /^[a-z]+:|^\//) == nil else { return nil }
        let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let fragment = parts.count > 1 ? parts[1].removingPercentEncoding ?? parts[1] : ""
        let path = String(parts[0].prefix { $0 != "?" })
        if path.isEmpty { return (page, fragment) }
        let place = URL(filePath: folder + "/" + page).deletingLastPathComponent()
        let target = place.appending(path: path.removingPercentEncoding ?? path).standardized.path
        guard target.hasPrefix(folder + "/") else { return nil }
        return (String(target.dropFirst(folder.count + 1)), fragment)
    }

    func contains(_ path: String) -> Bool { FileManager.default.fileExists(atPath: folder + "/" + path) }
}

extension Site.Page {
    fileprivate init(html: Data) {
        // In text, `<` is written as an entity.
        for piece in html.split(separator: UInt8(ascii: "<")).dropFirst() {
            let tag = String(decoding: piece.prefix { $0 != UInt8(ascii: ">") }, as: UTF8.self)
            let name = tag.prefix { !$0.isWhitespace }
            if let id = Self.attribute("id", of: tag) { ids.append(id) }
            if let source = Self.attribute("src", of: tag) { parts.append(source) }
            guard let link = Self.attribute("href", of: tag) else { continue }
            switch name {
            case "a": links.append(link)
            // An image in the page itself, or another page.
            case "use": links.append(link)
            case "link" where tag.contains("rel=\"next\"") || tag.contains("rel=\"prev\""): links.append(link)
            default: parts.append(link)
            }
        }
    }

    private static func attribute(_ name: String, of tag: String) -> String? {
        guard let start = tag.firstRange(of: " \(name)=\"")?.upperBound else { return nil }
        return String(tag[start...].prefix { $0 != "\"" }).replacing("&amp;", with: "&")
    }
}

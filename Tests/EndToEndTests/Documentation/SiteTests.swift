import Foundation
import TestSupport
import Testing

/// `make site` runs Sources/Packaging/site/build, and so do these tests.
@Suite("The documentation site", .serialized, .timeLimit(.minutes(5)))
struct SiteTests {
    @Test("has every page of Docs, man page and example, in four parts, and each link leads somewhere")
    func links() async throws {
        try await withSite { site, _ in
            for name in try FileManager.default.subpathsOfDirectory(atPath: SourceTree.path("Docs")) {
                guard let page = Self.page(of: name) else { continue }
                #expect(site.pages["Docs/" + page] != nil, "\(name)")
            }
            var count = 0
            for (name, page) in site.pages {
                for (id, uses) in Dictionary(grouping: page.ids, by: { $0 }) where uses.count > 1 {
                    Issue.record("\(name) has the id \(id) \(uses.count) times")
                }
                for part in page.parts where site.target(of: part, from: name).map({ site.contains($0.path) }) != true {
                    Issue.record("\(name) fetches \(part)")
                }
                for link in page.links where link.firstMatch(of: /^https?:/) == nil {
                    count += 1
                    let target = site.target(of: link, from: name)
                    guard let target, site.contains(target.path) else {
                        Issue.record("\(name) links to \(link)")
                        continue
                    }
                    guard !target.fragment.isEmpty else { continue }
                    let ids = site.pages[target.path]?.ids ?? []
                    if !ids.contains(target.fragment) { Issue.record("\(name) links to \(link)") }
                }
            }
            #expect(site.pages.count > 70 && count > 3000)

            let front = try String(contentsOfFile: site.folder + "/index.html", encoding: .utf8)
            let captions = front.matches(of: /<span class="caption-text">([^<]+)</).map { String($0.1) }
            #expect(captions == ["Tutorial", "How-to", "Reference", "Explanation"])
            // Names of man pages are links, in pages and in man pages.
            #expect(site.pages["Docs/faq.html"]?.links.contains("man/authd.toml.5.html") == true)
            #expect(site.pages["Docs/man/authd.1.html"]?.links.contains("authc.1.html") == true)
        }
    }

    @Test("fits a wide screen and a phone in a real Chromium, fetches nothing from elsewhere, and reports no error")
    func browser() async throws {
        try await withSite { site, desktop in
            let root = "file://\(site.folder)/"
            try await Chromium.running(in: desktop, logs: true) { browser in
                for width in [1280, 360] {
                    try await browser.setScreen(width: width)
                    try await browser.open(root + "index.html")
                    #expect(try await browser.script("return innerWidth") as? Int == width)
                    for page in site.pages.keys.sorted() {
                        try await browser.open(root + page)
                        let wide = try await browser.script(Self.wide) as? [String]
                        #expect(wide == [], "\(page), \(width) pixels")
                    }
                }
                try await browser.open(root + "search.html?q=keyring")
                let found = try await browser.script(Self.results) as? [String] ?? []
                #expect(found.contains { $0.hasPrefix(root + "Docs/decisions/keyring.html") }, "\(found)")
                for address in found { #expect(site.contains(Self.path(of: address, below: root)), "\(address)") }
                let requests = try await browser.requests()
                let others = requests.filter { !$0.hasPrefix(root) && !$0.hasPrefix("data:") }
                #expect(requests.count > 2 * site.pages.count && Set(others) == [])
                #expect(try await browser.log(.browser) == [])
            }
        }
    }

    @Test("is dark if the browser is, and can be read on a phone without scripts")
    func plain() async throws {
        try await withSmallTree { tree, site, desktop in
            let built = try await Site.build(of: tree, in: site, desktop)
            try #require(built.status == 0, "\(built.err)")
            try await Chromium.running(in: desktop) { browser in
                try await browser.disableScripts()
                for (isDark, color) in [(false, "rgb(255, 255, 255)"), (true, "rgb(19, 20, 22)")] {
                    try await browser.setScreen(width: 360, isDark: isDark)
                    try await browser.open("file://\(site)/Docs/index.html")
                    let background = try await browser.script(
                        "return getComputedStyle(document.body).backgroundColor")
                    #expect(background as? String == color)
                    #expect(try await browser.text().contains("How to use it."))
                }
                // Neither the button nor the list of pages has a script.
                try await browser.click(".mobile-header label[for=__navigation]")
                let link = ".sidebar-tree a[href='page.html']"
                // The list slides in.
                let isInView = "return document.querySelector(\"\(link)\").getBoundingClientRect().left >= 0"
                #expect(try await until { try await browser.script(isInView) as? Bool == true })
                try await browser.click(link)
                #expect(try await browser.title() == "Page - authd")
            }
        }
    }

    @Test(
        "is not built if a link leads nowhere or a page is not listed",
        arguments: [
            ("[x](missing.md)", "missing.md"), ("[x](page.md#none)", "page.md#none"),
            ("[x](../Sources)", "../Sources"), (nil, "page.md"),
        ] as [(String?, String)])
    func mistakes(line: String?, named: String) async throws {
        try await withSmallTree { tree, site, desktop in
            let former = try desktop.folder.write("former", to: "site/index.html")
            let index = "# Documentation\n" + (line.map { "\n## How-to\n- [Page](page.md)\n- \($0)\n" } ?? "")
            try index.write(toFile: tree + "/Docs/README.md", atomically: true, encoding: .utf8)
            let built = try await Site.build(of: tree, in: site, desktop)
            #expect(built.status == 1 && built.err.contains(named), "\(built.err)")
            // The site that was there stays.
            #expect(try String(contentsOfFile: former, encoding: .utf8) == "former")
        }
    }

    /// A repository of three pages, and a folder for its site.
    private func withSmallTree(_ test: (String, String, Desktop) async throws -> Void) async throws {
        let desktop = try await Desktop()
        let packaging = try desktop.folder.folder("tree/Sources/Packaging")
        for name in ["/site", "/desktop"] {
            try FileManager.default.copyItem(
                atPath: SourceTree.path("Sources/Packaging" + name), toPath: packaging + name)
        }
        _ = try desktop.folder.write("# One\n\n[Documentation](Docs/README.md)\n", to: "tree/README.md")
        _ = try desktop.folder.write(
            "# Documentation\nHow to use it.\n\n## How-to\n- [Page](page.md)\n", to: "tree/Docs/README.md")
        _ = try desktop.folder.write("# Page\n", to: "tree/Docs/page.md")
        try await test(desktop.folder.path + "/tree", desktop.folder.path + "/site", desktop)
        await desktop.end()
    }

    private func withSite(_ test: (Site, Desktop) async throws -> Void) async throws {
        let desktop = try await Desktop()
        let folder = desktop.folder.path + "/site"
        let built = try await Site.build(in: folder, desktop)
        try #require(built.status == 0 && built.out.isEmpty && built.err.isEmpty, "\(built.out)\(built.err)")
        try await test(Site(folder: folder), desktop)
        await desktop.end()
    }

    /// The page that the site has for a file of Docs. Pictures have none.
    private static func page(of name: String) -> String? {
        let file = URL(filePath: name)
        switch file.pathExtension {
        case "svg": return nil
        case "md" where file.lastPathComponent == "README.md": return name.dropLast(9) + "index.html"
        case "md": return name.dropLast(2) + "html"
        default:
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: SourceTree.path("Docs/" + name), isDirectory: &isFolder)
            return isFolder.boolValue ? nil : name + ".html"
        }
    }

    private static func path(of address: String, below root: String) -> String {
        String(address.dropFirst(root.count).prefix { $0 != "#" && $0 != "?" })
    }

    /// The parts of a page that can be scrolled to the side: of its frame, or all of its text. Single tables and blocks
    /// of code may.
    private static let wide = """
        return [...document.querySelectorAll("html, body, .page, .main, .content")]
            .filter(part => part.scrollWidth > part.clientWidth).map(part => part.tagName + " " + part.className);
        """

    /// Waits for the end of a search and returns the addresses that it found.
    private static let results = """
        return new Promise(done => {
            const look = () => {
                if (!document.body.innerText.includes("Search finished")) return requestAnimationFrame(look);
                done([...document.querySelectorAll("#search-results ul.search a")].map(link => link.href));
            };
            look();
        });
        """
}

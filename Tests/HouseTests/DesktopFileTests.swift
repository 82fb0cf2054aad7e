import Foundation
import Testing

/// The name, icon and description of authd on the desktop.
@Suite("The desktop's files")
struct DesktopFileTests {
    private static let folder = "Sources/Packaging/desktop"
    private let scene = PackageScene()

    private func text(_ name: String) throws -> String {
        try String(contentsOf: ProjectFiles.root.appending(path: "\(Self.folder)/\(name)"), encoding: .utf8)
    }

    @Test("desktop-file-validate and appstreamcli report nothing")
    func valid() async throws {
        let entry = try await scene.shell("desktop-file-validate --warn-kde \(Self.folder)/*.desktop")
        #expect(entry.isSuccess && entry.out.isEmpty && entry.err.isEmpty, "\(entry.out)\(entry.err)")
        let metadata = try await scene.shell("appstreamcli validate --no-net --pedantic \(Self.folder)/*.metainfo.xml")
        #expect(metadata.isSuccess && metadata.out.contains("successful"), "\(metadata.out)\(metadata.err)")
        for mark in ["I:", "P:", "W:", "E:", "infos", "pedantic:"] { #expect(!metadata.out.contains(mark)) }
    }

    @Test("as installed, they form one component with its icon")
    func composed() async throws {
        try await scene.withFolder { folder in
            try await scene.makePrograms(in: folder)
            let built = try await scene.shell(
                """
                make --silent install RELEASE="$1/programs" PREFIX=/usr DESTDIR="$1/installed" >/dev/null
                appstreamcli validate-tree --no-net "$1/installed"
                rsvg-convert -w 48 -h 48 "$1"/installed/usr/share/icons/hicolor/scalable/apps/org.authd.agent.svg >"$1/icon.png"
                head -c 8 "$1/icon.png" | tail -c 7
                """, folder)
            #expect(built.isSuccess && built.out.contains("PNG"), "\(built.out)\(built.err)")
            let left = try await scene.shell(
                """
                make --silent uninstall RELEASE="$1/programs" PREFIX=/usr DESTDIR="$1/installed" >/dev/null
                find "$1/installed" -name 'org.authd.agent*'
                """, folder)
            #expect(left.isSuccess && left.out.isEmpty, "\(left.out)\(left.err)")
        }
    }

    @Test("the metadata names this release, the entry and its icon; notifications name the entry")
    func names() throws {
        let metadata = try text("org.authd.agent.metainfo.xml")
        let release = try #require(ProjectFiles.file("Sources/AuthWire/Release.swift"))
        let number = try #require(release.text.firstMatch(of: /version = "([^"]+)"/)?.1)
        #expect(metadata.contains("<release version=\"\(number)\""))
        #expect(metadata.contains(">org.authd.agent.desktop</launchable>"))
        #expect(metadata.contains("<project_license>LicenseRef-not-chosen-yet</project_license>"))
        let entry = try text("org.authd.agent.desktop")
        #expect(entry.contains("\nIcon=org.authd.agent\n"))
        let notifier = try #require(ProjectFiles.file("Sources/AuthNetwork/DesktopNotifier.swift"))
        #expect(notifier.text.contains("\"org.authd.agent\""))
    }
}

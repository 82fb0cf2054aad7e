import AuthDaemon
import Foundation
import TestSupport
import Testing

@Suite("The journal's catalog")
struct CatalogTests {
    private static let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "systemd/authd.catalog")

    @Test("it explains each message that has an ID, and no other")
    func complete() throws {
        let text = try String(contentsOf: Self.file, encoding: .utf8)
        let explained = text.matches(of: /(?m)^-- ([0-9a-f]{32})$/).map { String($0.1) }
        #expect(explained == CatalogMessage.allCases.map(\.rawValue))
    }

    @Test("systemd accepts it, and every entry has a subject and the pages to read")
    func accepted() async throws {
        let root = try TemporaryFolder()
        let folder = try root.folder("usr/lib/systemd/catalog")
        _ = try root.folder("var/lib/systemd/catalog")
        try FileManager.default.copyItem(atPath: Self.file.path, toPath: folder + "/authd.catalog")
        for option in ["--update-catalog", "--dump-catalog"] {
            let command = ["journalctl", "--root=\(root.path)", option]
            let done = try await Child(command, environment: ["PATH": "/usr/bin:/bin"]).output()
            #expect(done.status == 0, "\(option): \(done.err)")
            guard option == "--dump-catalog" else { continue }
            for line in ["Subject: ", "Defined-By: authd", "Documentation: man:"] {
                let found = done.out.split(separator: "\n").filter { $0.hasPrefix(line) }
                #expect(found.count == CatalogMessage.allCases.count)
            }
        }
    }
}

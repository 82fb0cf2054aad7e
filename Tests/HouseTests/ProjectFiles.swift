import Foundation
import Testing

/// The project as it lies on the disk, read as text: what the house tests look at.
enum ProjectFiles {
    /// The folder with `Package.swift` in it.
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The folder of built programs and objects that this test program lies in.
    static func built() throws -> URL {
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return URL(filePath: program).deletingLastPathComponent()
    }

    /// Every file of ours under `folder` (a path from the root), in a fixed order.
    static func files(under folder: String) -> [TextFile] {
        let start = root.appending(path: folder)
        let names = FileManager.default.enumerator(atPath: start.path)?.compactMap { $0 as? String } ?? []
        return names.sorted().compactMap { file(folder + "/" + $0) }
    }

    /// The file at a path from the root; nil when it is a folder, not there, or no text.
    static func file(_ path: String) -> TextFile? {
        guard let text = try? String(contentsOf: root.appending(path: path), encoding: .utf8) else { return nil }
        return TextFile(path: path, lines: text.split(separator: "\n", omittingEmptySubsequences: false))
    }

    static func swiftFiles() -> [TextFile] {
        (files(under: "Sources") + files(under: "Tests")).filter { $0.path.hasSuffix(".swift") }
    }

    /// What is kept in the repository: the sources and everything beside them, without what was built.
    static func allFiles() -> [TextFile] {
        let single = ["Package.swift", "README.md", "Makefile", ".gitignore", ".swift-format"].compactMap(file)
        return single + ["Sources", "Tests", "systemd", "Docs", ".ci"].flatMap(files(under:))
    }
}

struct TextFile: CustomTestStringConvertible {
    /// From the project's root.
    let path: String
    let lines: [Substring]

    var text: String { lines.joined(separator: "\n") }

    /// The number of lines as an editor counts them: the end of the last one begins no new line.
    var lineCount: Int { lines.last == "" ? lines.count - 1 : lines.count }

    /// The target whose sources it belongs to: the second folder of its path.
    var target: String { path.split(separator: "/").dropFirst().first.map(String.init) ?? "" }

    var testDescription: String { path }
}

import Foundation
import Testing

/// The project's files, read as text.
enum ProjectFiles {
    /// The folder with `Package.swift` in it.
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The folder of built programs and objects that contains this test program.
    static func built() throws -> URL {
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return URL(filePath: program).deletingLastPathComponent()
    }

    /// All files under `folder` (a path from the root), in a fixed order.
    static func files(under folder: String) -> [TextFile] {
        let start = root.appending(path: folder)
        let names = FileManager.default.enumerator(atPath: start.path)?.compactMap { $0 as? String } ?? []
        return names.sorted().compactMap { file(folder + "/" + $0) }
    }

    /// The file at a path from the root; nil if it is a folder, missing, or not text.
    static func file(_ path: String) -> TextFile? {
        guard let text = try? String(contentsOf: root.appending(path: path), encoding: .utf8) else { return nil }
        return TextFile(path: path, lines: text.split(separator: "\n", omittingEmptySubsequences: false))
    }

    static func swiftFiles() -> [TextFile] {
        (files(under: "Sources") + files(under: "Tests")).filter { $0.path.hasSuffix(".swift") }
    }

    /// Everything in the repository, without build results.
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

    /// The number of lines as in an editor: the end of the last one begins no new line.
    var lineCount: Int { lines.last == "" ? lines.count - 1 : lines.count }

    /// The target of the file: the second folder of its path.
    var target: String { path.split(separator: "/").dropFirst().first.map(String.init) ?? "" }

    var testDescription: String { path }
}

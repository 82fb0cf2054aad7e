import Foundation

/// The kept inputs of the targets: real examples, and what fuzzing has found.
package enum Corpus {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Corpus")

    /// The inputs of a target with the names of their files, in a fixed order.
    package static func inputs(of target: String) throws -> [(name: String, bytes: [UInt8])] {
        let folder = folder.appending(path: target)
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { name in
            (name, [UInt8](try Data(contentsOf: folder.appending(path: name))))
        }
    }

    /// The names of the folders: one for each target.
    package static func folders() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }
}

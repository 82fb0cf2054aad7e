import Foundation

/// The files of this project, in the folder from which the tests were built.
package enum SourceTree {
    /// The folder with `Package.swift` in it.
    package static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    /// - Parameter name: a path from the root.
    package static func path(_ name: String) -> String { root + "/" + name }

    /// - Parameter name: a path from the root.
    package static func text(_ name: String) throws -> String {
        try String(contentsOfFile: path(name), encoding: .utf8)
    }
}

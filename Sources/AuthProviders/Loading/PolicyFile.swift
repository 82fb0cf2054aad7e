package import AuthModel

/// Files of access rules.
package enum PolicyFile {
    /// The text of the user's file; `nil` without one.
    package static func text(_ path: String) throws(ProfileProblems) -> String? { try TextFile.read(path) }

    /// Root's rules: a file that only its owner can change.
    /// - Parameter owner: the user who must own it.
    package static func root(_ path: String, owner: UInt32 = 0) throws(ProfileProblems) -> AccessPolicy.Rules {
        guard let text = try TextFile.read(path, ownedBy: owner) else { return AccessPolicy.Rules() }
        return try PolicyReader.read(text, from: .root, file: path)
    }
}

package import AuthFiles
package import AuthWire
import Glibc

/// Writes the settings' folder rules to the file that clients read.
package struct FolderRulesFile: Sendable {
    private let file: AtomicFile
    private let home: String?

    /// - Parameter home: for paths that begin with `~`.
    package init(beside socket: String, home: String?) {
        file = AtomicFile(path: SocketPath.neighbour("folders", of: socket))
        self.home = home
    }

    /// Without rules there is no file.
    package func write(_ rules: [FolderRule]) throws(SystemFailure) {
        let text = FolderRules(rules.flatMap(reached)).text
        guard !text.isEmpty else { return remove() }
        guard text.utf8.count <= FolderRules.longestText else {
            remove()
            throw SystemFailure("write \(FolderRules.longestText) bytes of folder rules at most", number: E2BIG)
        }
        try file.replace(with: Array(text.utf8), durably: false)
    }

    package func remove() { try? file.remove(durably: false) }

    /// The rule as it is written and, if its path has links, with the path that getcwd(3) returns.
    private func reached(_ rule: FolderRule) -> [FolderRule] {
        guard let path = absolute(rule.path) else { return [] }
        var rules = [FolderRule(path: path, session: rule.session)]
        if let real = unsafe realpath(path, nil) {
            defer { unsafe free(real) }
            let resolved = unsafe String(cString: real)
            if resolved != path { rules.append(FolderRule(path: resolved, session: rule.session)) }
        }
        return rules
    }

    private func absolute(_ path: String) -> String? {
        guard path.utf8.first == UInt8(ascii: "~") else { return path }
        return home.map { $0 + path.dropFirst() }
    }
}

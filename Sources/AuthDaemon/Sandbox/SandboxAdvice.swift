package import AuthModel
import AuthWire
import Glibc

/// What a reload reports about files that Landlock keeps from the agent until it is started again.
package struct SandboxAdvice: Sendable {
    /// The rules in effect; `nil`: every file can be read.
    private let rules: FileRules?
    /// Where settings open the extra socket.
    private let extraSocket: @Sendable (Settings) -> String?

    package init(rules: FileRules?, extraSocket: @escaping @Sendable (Settings) -> String? = { _ in nil }) {
        self.rules = rules
        self.extraSocket = extraSocket
    }

    /// One text for each file that new settings and profiles name outside of the rules.
    func changes(for new: AgentConfiguration) -> [String] {
        guard let rules else { return [] }
        var files = FileRules.Places.files(of: new)
        if new.settings.listenerRules.listens { files += [extraSocket(new.settings)].compactMap(\.self) }
        return files.filter { path in
            // The rules are for folders without links.
            !rules.allowReading(path) && !rules.allowReading(FileRules.Places.target(of: path) ?? path)
        }.map { "\($0) can be used when authd is started again" }
    }

    /// Why files of settings and profiles may not be readable.
    func reasons(for problems: [ProfileProblem]) -> [String] {
        guard rules != nil, problems.contains(where: { $0.found == SystemError.text(EACCES) }) else { return [] }
        return [
            "authd reads its folders, and what links in them led to when it was started: `authc agent restart` lets it read "
                + "what links lead to now"
        ]
    }
}

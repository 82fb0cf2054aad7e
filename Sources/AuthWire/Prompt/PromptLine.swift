/// The line of the prompt file: the id of the agent's process, then a word for each session that is not signed out, the default
/// first.
///
/// A killed agent leaves its file behind. The line is valid while a process with that id exists.
/// A word is `NAME:WHO`, then `!STATE` unless the session is active: `shop:ada@example.org`, `wiki!keyring_locked`. An
/// active session whose account has no password yet has `!needs_password`. While the agent is locked, a session that
/// would have a token has `!locked`. If the store is locked and the names of its sessions are not known, the only word is
/// `!keyring_locked`.
/// `read -r agent first rest` splits it. A word has no space, no control character, and nothing that a shell or a terminal
/// acts on, whatever the user's name is.
public enum PromptLine {
    /// The limit for `WHO` in characters, to keep a prompt short.
    static let whoCharacters = 64

    /// The content of the file. `PromptReading` is what a reader makes of it.
    public static func file(_ line: String, agent: Int32) -> String {
        line.isEmpty ? "\(agent)\n" : "\(agent) \(line)\n"
    }

    /// Without a line feed; empty if there is no session.
    /// - Parameters:
    ///   - statuses: all sessions; those that are signed out are not shown.
    ///   - hidesSessions: whether the store is locked and the names of its sessions are not known.
    public static func text(for statuses: [SessionStatus], hidesSessions: Bool = false) -> String {
        let signedIn = statuses.filter { $0.state != .signedOut }
        if signedIn.isEmpty, hidesSessions { return "!" + SessionState.keyringLocked.rawValue }
        let first = signedIn.filter(\.isDefault)
        let rest = signedIn.filter { !$0.isDefault }.sorted { $0.session < $1.session }
        return (first + rest).map(word).joined(separator: " ")
    }

    private static func word(for status: SessionStatus) -> String {
        var word = status.session.text
        if let who = status.user.flatMap(who) { word += ":" + who }
        if status.lockedSince != nil, status.state == .active || status.state == .stale {
            word += "!locked"
        } else if status.state != .active {
            word += "!" + status.state.rawValue
        } else if status.needsPassword {
            word += "!needs_password"
        }
        return word
    }

    private static func who(_ user: UserSummary) -> String? {
        [user.email, user.name, user.id].lazy.compactMap { $0.map(sanitized) }.first { !$0.isEmpty }
    }

    /// Replaces all but letters, digits and a few signs with `_`, and removes characters that a line cannot show.
    private static func sanitized(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars.lazy.filter(isShown).prefix(whoCharacters) {
            result.unicodeScalars.append(isPlain(scalar) ? scalar : "_")
        }
        return result
    }

    private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII {
            return scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                || "@.+-_".unicodeScalars.contains(scalar)
        }
        return scalar.properties.generalCategory != .spaceSeparator
    }
}

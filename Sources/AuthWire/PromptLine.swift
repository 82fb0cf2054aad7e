/// The one line of the prompt file: the id of the agent's process, then a word for each session that is not signed out, the
/// default first.
///
/// An agent that is killed leaves its file behind. While a process with that id is there, the line holds.
/// A word is `NAME:WHO`, then `!STATE` unless the session is active: `shop:ada@example.org`, `wiki!keyring_locked`. An
/// active session whose account has no password yet says `!needs_password`.
/// `read -r agent first rest` takes it apart. Whatever a provider calls its user, a word holds no space, no control character
/// and nothing that a shell or a terminal would act on.
public enum PromptLine {
    /// Of `WHO`, in characters: a prompt is no place for more.
    static let whoCharacters = 64

    /// The content of the file.
    public static func file(_ line: String, agent: Int32) -> String {
        line.isEmpty ? "\(agent)\n" : "\(agent) \(line)\n"
    }

    /// The words in the file; `nil` if the agent that wrote it is gone.
    public static func line(inFile text: String, isRunning: (_ agent: Int32) -> Bool) -> String? {
        let parts = text.prefix { $0 != "\n" }.split(separator: " ", maxSplits: 1)
        guard let agent = parts.first.flatMap({ Int32($0) }), agent > 0, isRunning(agent) else { return nil }
        return parts.count > 1 ? String(parts[1]) : ""
    }

    /// Without a line feed; empty when there is no session.
    public static func text(for statuses: [SessionStatus]) -> String {
        let signedIn = statuses.filter { $0.state != .signedOut }
        let first = signedIn.filter(\.isDefault)
        let rest = signedIn.filter { !$0.isDefault }.sorted { $0.session < $1.session }
        return (first + rest).map(word).joined(separator: " ")
    }

    private static func word(for status: SessionStatus) -> String {
        var word = status.session.text
        if let who = status.user.flatMap(who) { word += ":" + who }
        if status.state != .active {
            word += "!" + status.state.rawValue
        } else if status.needsPassword {
            word += "!needs_password"
        }
        return word
    }

    private static func who(_ user: UserSummary) -> String? {
        [user.email, user.name, user.id].lazy.compactMap { $0.map(sanitized) }.first { !$0.isEmpty }
    }

    /// What is not a letter, a digit or one of a few signs becomes `_`; what has no place on a line goes.
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

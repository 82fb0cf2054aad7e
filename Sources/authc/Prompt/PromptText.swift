import AuthConfiguration
import AuthWire

/// What a prompt shows of the sessions in the prompt file (`PromptLine` in AuthWire): first those that need the user.
/// ``PromptScript`` writes the same rules as functions of shells.
struct PromptText {
    /// So many sessions are shown, and then the number of the others.
    static let most = PromptReading.mostSessions
    /// A state in which a session does not need the user.
    static let calmState = "signing_in"

    let settings: PromptSettings
    /// With `folder_only`, the only session that is shown.
    let wanted: String?

    /// - Parameter line: the words of the file.
    func text(of line: String) -> String {
        var (first, rest): ([String], [String]) = ([], [])
        for word in line.unicodeScalars.split(separator: " ") {
            let (account, state) = Self.halves(Substring(word), at: "!")
            let (session, user) = Self.halves(account, at: ":")
            if settings.folderOnly, !mayBeWanted(session) { continue }
            if settings.attentionOnly, state.isEmpty || state == Self.calmState { continue }
            let text = shown(session, user: user, state: state)
            guard !text.isEmpty else { continue }
            if state.isEmpty { rest.append(text) } else { first.append(text) }
        }
        let all = first + rest
        let more = all.count > Self.most ? ["+\(all.count - Self.most)"] : []
        return (all.prefix(Self.most) + more).joined(separator: " ")
    }

    /// - Parameter session: empty in the word of a locked store, which may have any session.
    private func mayBeWanted(_ session: Substring) -> Bool {
        guard let wanted, !wanted.isEmpty else { return false }
        return session.isEmpty || session == wanted
    }

    private func shown(_ session: Substring, user: Substring, state: Substring) -> String {
        settings.format.map { part in
            switch part {
            case .text(let text): return text
            case .value(let field, let before):
                let value =
                    switch field {
                    case .session: session
                    case .user: user
                    case .state: state
                    }
                return value.isEmpty ? "" : before + value
            }
        }.joined()
    }

    /// Scalars, as in the functions for shells: the mark may be one character with the beginning or the end of a name.
    private static func halves(_ text: Substring, at mark: Unicode.Scalar) -> (Substring, Substring) {
        guard let place = text.unicodeScalars.firstIndex(of: mark) else { return (text, "") }
        return (text[..<place], text[text.unicodeScalars.index(after: place)...])
    }
}

package import AuthWire

/// Names sessions in messages to one client, except for those that access rules hide from it.
package struct SessionNames: Sendable {
    /// For a client that may see all sessions.
    package static let all = SessionNames(without: nil)
    private static let hidden = "that an access rule hides from this program"

    private let isHidden: (@Sendable (SessionName) -> Bool)?

    /// - Parameter isHidden: `nil`: no session is hidden.
    package init(without isHidden: (@Sendable (SessionName) -> Bool)?) {
        self.isHidden = isHidden
    }

    package func contains(_ session: SessionName) -> Bool { isHidden.map { !$0(session) } ?? true }

    /// The names. Hidden sessions are mentioned without names. Empty if there are no sessions.
    package func list(_ sessions: [SessionName]) -> String {
        let visible = sessions.filter(contains).map(\.text)
        let others = visible.count == sessions.count ? [] : ["sessions \(Self.hidden)"]
        return (visible + others).joined(separator: ", ")
    }

    /// For example `session work`.
    package func text(_ session: SessionName) -> String {
        contains(session) ? "session \(session)" : "a session \(Self.hidden)"
    }

    /// - Parameter session: a name in a store, which may be invalid.
    func text(stored session: String) -> String {
        guard isHidden != nil else { return "session \(session)" }
        return (try? SessionName(session)).map { text($0) } ?? "a session \(Self.hidden)"
    }
}

/// The name of a program that may use the local HTTP endpoint. It has the form of a session's name, so that it can name a file.
package struct ClientName: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let text: String

    /// - Throws: ``ErrorKind/validation`` for a text outside ``SessionName/rule``.
    package init(_ text: String) throws(AgentError) {
        guard (try? SessionName(text)) != nil else {
            throw AgentError(.validation, "'\(text.quotable)' is not a program's name; use \(SessionName.rule).")
        }
        self.text = text
    }

    package var description: String { text }

    package static func < (left: ClientName, right: ClientName) -> Bool { left.text < right.text }
}

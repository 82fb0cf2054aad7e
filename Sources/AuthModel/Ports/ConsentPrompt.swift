/// Asks the user on the desktop.
package protocol ConsentPrompt: Sendable {
    /// Shows a question until it is answered or withdrawn. A cancelled task withdraws it.
    /// - Parameter number: of the question, which is used once.
    func show(_ question: ConsentQuestion, number: UInt64) async -> ConsentReply

    /// Its reply is ``ConsentReply/notShown``.
    func withdraw(_ number: UInt64)
}

package import AuthWire

/// Opens addresses in the user's browser, on the screen of this machine.
package protocol BrowserOpening: Sendable {
    /// Returns when the program that opens it has ended, which may be long after the page is shown, or when the task is
    /// cancelled.
    /// - Throws: `unsupported` if there is no such program, or it fails.
    func show(_ url: String) async throws(AgentError)
}

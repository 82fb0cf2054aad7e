import AuthWire

/// The address that a token is for, as the user types it.
enum OriginArgument {
    /// - Throws: if it has no scheme. The hint is the same command with the address that was probably meant.
    static func check(_ text: String) throws(Failure) {
        guard !text.contains("://") else { return }
        let meant = "https://" + text
        let words = TypedCommand.words.map { $0 == text ? meant : $0 }
        throw .usage(
            "'\(Visible.line(text))' is not an http or https URL",
            hint: TypedCommand.isWhole ? "did you mean `\(CommandText.authc(words))`?" : "did you mean \(meant)?")
    }
}

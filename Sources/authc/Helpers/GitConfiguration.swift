import AuthWire

/// Two lines of git's configuration: the first ends the list of other helpers for this server (gitcredentials(7)).
struct GitConfiguration {
    let server: Substring
    let session: SessionName?

    private var key: String { "credential.\(server).helper" }
    private var helper: String { "!authc helper git" + (session.map { " -s \($0)" } ?? "") }

    /// Values of this command, with or without the empty one before it. As git-config(1) has it, ! negates an expression.
    private static let own = "^!authc helper git"
    private static let ownOrEmpty = "^(!authc helper git.*)?$"

    func apply(remove: Bool, dryRun: Bool) throws(Failure) {
        let git = ["git", "config", "--global"]
        let hasOthers = try run(git + ["--get", key, "!" + Self.ownOrEmpty], isQuiet: true) == 0
        guard !hasOthers || remove else {
            throw .usage(
                "git has another helper for \(server)",
                hint: "remove it first: `git config --global --unset-all \(ShellWord.quoted(key))`")
        }
        // The empty value may belong to the other helper.
        var commands = [["--unset-all", key, hasOthers ? Self.own : Self.ownOrEmpty]]
        if !remove { commands += [["--add", key, ""], ["--add", key, helper]] }
        for arguments in commands {
            if !dryRun { _ = try run(git + arguments) }
            Output.command((git + arguments).map(ShellWord.quoted).joined(separator: " "))
        }
        if !dryRun {
            Output.note(
                "These commands were run. git \(remove ? "no longer asks" : "now asks") authd for the password for \(server)."
            )
        }
    }

    /// - Returns: the status; 1 and 5 mean that there is no such value (git-config(1)).
    private func run(_ command: [String], isQuiet: Bool = false) throws(Failure) -> Int32 {
        let status = try ChildProgram(command: command, variables: []).run(isQuiet: isQuiet)
        guard [0, 1, 5].contains(status) else {
            throw Failure(
                status: .refusedData, kind: "git",
                message: "\(command.prefix(3).joined(separator: " ")) ended with status \(status)")
        }
        return status
    }
}

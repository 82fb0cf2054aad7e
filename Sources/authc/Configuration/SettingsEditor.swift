import AuthConnection
import AuthConfiguration
import AuthFiles
import AuthWire
import Glibc

/// `config edit`: the user's editor on a draft, which becomes the settings when authd accepts it.
///
/// Invariant: until then the file has its old content, however the command ends.
struct SettingsEditor {
    let file: SettingsFile
    let options: Options

    /// - Returns: whether the file was changed.
    func run() throws(Failure) -> Bool {
        let editor = try chosenEditor()
        let before = try file.base()
        let draft = SettingsCheck.Draft(of: file)
        let missing = MissingFolders.list(for: file.path)
        defer { MissingFolders.removeEmpty(missing, options) }
        // ^C in an editor is the editor's (git does the same). A handler, because the child would inherit an ignored signal.
        let signals = try Signals(TerminalInput.signals.filter { $0 != SIGTSTP })
        do throws(Failure) {
            try draft.write(before)
            let isChanged = try edit(draft, with: editor, before, signals)
            draft.remove()
            return isChanged
        } catch {
            if let kept = keep(draft, before) { Output.note("your version is in \(Visible.line(kept))") }
            if error.isSilent, let number = signals.consume() { signals.performDefault(number) }
            throw error
        }
    }

    private func edit(
        _ draft: SettingsCheck.Draft, with editor: String, _ before: String, _ signals: Signals
    ) throws(Failure) -> Bool {
        while true {
            let status = try ChildProgram(command: Self.command(editor, draft.path), variables: []).run()
            // Those of the terminal were for the editor.
            while signals.wait(until: .now) == .signal {
                guard signals.caught == SIGINT || signals.caught == SIGQUIT else {
                    throw Failure(ClientError.cancelled, doing: "", within: .zero)
                }
                _ = signals.consume()
            }
            guard status == 0 else {
                // As with git(1), an editor that fails says that nothing is to be done.
                draft.remove()
                throw .cancelled("the editor exited with status \(status), and nothing was changed")
            }
            let text = try FileText.read(draft.path, atMost: SettingsFile.longest)
            if text == before { return false }
            let problems = try SettingsCheck.problems(in: draft, as: file)
            if problems.isEmpty {
                try replace(before, with: text)
                return true
            }
            let refusal = SettingsCheck.failure(problems, "the settings have problems, and nothing was changed")
            guard options.canPrompt else { throw refusal }
            Output.note(refusal.explanation)
            let answer = try TerminalInput(signals: signals).ask("Edit again? [Y/n] ", isSecret: false)
            guard let answer, !["n", "no"].contains(answer.lowercased()) else {
                throw .cancelled("nothing was changed")
            }
        }
    }

    /// Another change in the meantime is not overwritten.
    private func replace(_ before: String, with text: String) throws(Failure) {
        let lock = try file.lock()
        defer { withExtendedLifetime(lock) {} }
        guard try file.base() == before else {
            throw .usage("\(file.path) was changed in the meantime")
        }
        try file.write(text)
    }

    /// Keeps the user's work beside the file, unless there is none.
    /// - Returns: where it is.
    private func keep(_ draft: SettingsCheck.Draft, _ before: String) -> String? {
        guard unsafe access(draft.path, F_OK) == 0 else { return nil }
        guard (try? FileText.read(draft.path, atMost: SettingsFile.longest)) != before else {
            draft.remove()
            return nil
        }
        let kept = file.path + ".edited"
        return unsafe rename(draft.path, kept) == 0 ? kept : draft.path
    }

    /// As in git(1): a command for the shell. A simple one needs no shell, which ^C would end.
    private static func command(_ editor: String, _ path: String) -> [String] {
        let isSimple = editor.utf8.allSatisfy { TOMLPath.isBare($0) || "/.+ ".utf8.contains($0) }
        let words = editor.split(separator: " ").map(String.init)
        return isSimple && !words.isEmpty ? words + [path] : ["sh", "-c", "\(editor) \"$@\"", editor, path]
    }

    private func chosenEditor() throws(Failure) -> String {
        for name in ["VISUAL", "EDITOR"] {
            if let editor = environmentValue(name), !editor.isEmpty { return editor }
        }
        guard options.canPrompt else {
            throw .usage("there is no terminal, and neither $VISUAL nor $EDITOR is set", hint: "set one of them")
        }
        return ["/usr/bin/sensible-editor", "/usr/bin/editor"].first { unsafe access($0, X_OK) == 0 } ?? "vi"
    }
}

import AuthConnection
import AuthWire

/// Asks the questions of a step on the terminal.
struct Prompter {
    let options: Options
    let signals: Signals
    let agent: Agent
    /// The names of the fields on the command line.
    let given: Set<String>

    enum Answers {
        case fields([String: String])
        /// The user wants another code.
        case resend
    }

    /// - Parameter previous: what the user typed the last time, by field. It is the default now.
    /// - Throws: without a terminal, the reason why the given fields are not enough.
    func answers(to step: Step, previous: [String: String] = [:]) throws(Failure) -> Answers {
        guard options.canPrompt else { throw missingInput(step) }
        for line in (step.message ?? "").split(separator: "\n") { Output.note(Visible.line(String(line))) }
        if let place = step.sentTo, step.error == nil {
            let end = step.expiresAt.map { ", valid until \(WallClock.text($0, now: WallClock.now))" } ?? ""
            Output.note(Visible.line("Sent to \(place)\(end)."))
        }
        var answers: [String: String] = [:]
        for field in step.fields ?? [] {
            switch try answer(to: field, of: step, previous: previous[field.name]) {
            case .given(let text): answers[field.name] = text
            case .omitted: break
            case .resend: return .resend
            }
        }
        return .fields(answers)
    }

    /// Anything but a clear yes is a no.
    func confirm(_ question: String) throws(Failure) -> Bool {
        let answer = try line(Visible.line(question) + " [y/N] ", isSecret: false)
        return ["y", "yes"].contains(answer.lowercased())
    }

    private enum Answer {
        case given(String)
        case omitted
        case resend
    }

    private func answer(
        to field: StepField, of step: Step, previous: String?
    ) throws(Failure) -> Answer {
        if field.kind == StepField.agreement { return .given(try confirm(field.label + "?") ? StepField.yes : "no") }
        let isCode = field.kind == "code" && step.resendAt != nil
        if let choices = field.choices { return try choice(choices, field, previous: previous) }
        // The message has just named the rules that were not met. What an address looks like is known.
        for rule in field.rules ?? [] where step.message?.contains(rule) != true && field.kind != "email" {
            Output.note("  " + Visible.line(rule))
        }
        let hint =
            if let value = previous ?? field.value { " [\(Visible.line(value))]" } else if field.optional {
                " (optional)"
            } else if isCode { " (Enter for another code)" } else { "" }
        let question = Visible.line(field.label) + hint + ": "
        while true {
            let typed = try line(question, isSecret: field.secret)
            let text = typed.isEmpty ? previous ?? "" : typed
            if !text.isEmpty {
                guard isWellFormed(text, field) else {
                    Output.erase(question, answer: field.secret ? "" : typed)
                    Output.note("That is not \(EmailAddress.description). It was not sent.")
                    continue
                }
                guard try isValid(text, field, of: step), try isConfirmed(text, field) else { continue }
                return .given(text)
            }
            if field.value != nil || field.optional { return .omitted }
            if isCode { return .resend }
        }
    }

    /// By its number, its label or its value.
    private func choice(
        _ choices: [FieldChoice], _ field: StepField, previous: String?
    ) throws(Failure) -> Answer {
        for (index, choice) in choices.enumerated() { Output.note(Visible.line("  \(index + 1)  \(choice.label)")) }
        let kept = choices.first { $0.value == previous }
        let hint =
            if let kept { " [\(Visible.line(kept.label))]" } else if field.optional { " (optional)" } else { "" }
        while true {
            let text = try line(Visible.line(field.label) + hint + ": ", isSecret: false)
            if text.isEmpty, let kept { return .given(kept.value) }
            if text.isEmpty, field.optional { return .omitted }
            if let number = Int(text), choices.indices.contains(number - 1) { return .given(choices[number - 1].value) }
            if let found = choices.first(where: { $0.label == text || $0.value == text }) { return .given(found.value) }
            Output.note("That is not one of them.")
        }
    }

    /// Checked before anything is sent: text that is not an address may be a password. The agent checks all answers
    /// again.
    private func isWellFormed(_ text: String, _ field: StepField) -> Bool {
        field.kind != "email" || EmailAddress.isWellFormed(text)
    }

    /// Asks the agent, which has the rules of the profile. An agent of an older version reports a broken rule later.
    private func isValid(_ text: String, _ field: StepField, of step: Step) throws(Failure) -> Bool {
        guard field.rules?.isEmpty == false else { return true }
        do throws(Failure) {
            let check = LoginCheck(login: step.login, fields: [field.name: text])
            guard let message = try agent.call(check, watching: signals).message else { return true }
            Output.note("Not accepted:")
            for line in message.split(separator: "\n") {
                let rule = line.hasPrefix(field.label + ": ") ? line.dropFirst(field.label.count + 2) : line
                Output.note("  " + Visible.line(String(rule)))
            }
            return false
        } catch {
            guard error.agentError != nil else { throw error }
            return true
        }
    }

    /// A new password is not shown, so the user types it twice.
    private func isConfirmed(_ text: String, _ field: StepField) throws(Failure) -> Bool {
        guard field.kind == StepField.newPassword, field.secret else { return true }
        let again = try line(Visible.line(field.label) + ", again: ", isSecret: true)
        if again != text { Output.note("The two are not the same.") }
        return again == text
    }

    private func line(_ question: String, isSecret: Bool) throws(Failure) -> String {
        guard let line = try TerminalInput(signals: signals).ask(question, isSecret: isSecret) else {
            throw .cancelled("the sign-in was cancelled")
        }
        return line
    }

    private func missingInput(_ step: Step) -> Failure {
        if step.fields?.contains(where: { $0.kind == StepField.agreement }) == true {
            var failure = Failure(
                AgentError(
                    .conflict, (step.message ?? "The sign-in asks for an agreement.") + " Nothing was changed.",
                    cause: "other_user"))
            failure.hint = "use --replace-account to replace the account, or -s NAME to add another session"
            return failure
        }
        if let error = step.error { return Failure(error) }
        let fields = step.fields ?? []
        if let message = step.message, fields.contains(where: { given.contains($0.name) }) {
            let lines = message.split(separator: "\n").map(String.init)
            return Failure(
                AgentError(.validation, "These values are not valid. Nothing was sent.", details: lines))
        }
        guard let field = fields.first(where: { !$0.optional }) ?? fields.first else {
            return .internalError("the agent's step has no fields")
        }
        let way = field.secret ? "--password-stdin or --secret-fd \(field.name)=FD" : "--field \(field.name)=VALUE"
        let sent = step.sentTo.map { " (sent to \($0))" } ?? ""
        return .usage(
            "\(field.label) (\(field.name)) is missing\(sent), and there is no terminal", hint: "use \(way)")
    }
}

import AuthWire
import CommandArguments

struct Approve: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve", abstract: "Answer the question about a program that waits for you.",
        discussion: """
            A rule with `effect = "ask"` has the agent ask you before it gives something to a program. Without a desktop, this \
            answers, on a terminal of a login session. It is a convenience. It does not protect from malicious programs that run as \
            you.
            """)

    @OptionGroup var common: AskingOptions

    @Option(
        help: ArgumentHelp(
            "Remember an allowance of the program for so many minutes. Default: only for what waits.",
            valueName: "n"),
        completion: .nothing)
    var minutes: Int?

    private static let mostMinutes = 30 * 24 * 60

    func validate() throws(ValidationError) {
        if let minutes, !(1...Self.mostMinutes).contains(minutes) {
            throw ValidationError("--minutes: expected 1 to \(Self.mostMinutes).")
        }
    }

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        let agent = try options.connect()
        let (list, json) = try agent.call(ConsentListGet())
        guard let question = list.questions.first else {
            if options.json { return try Output.jsonResult(json) }
            Output.note("No program waits for an answer.")
            return .done
        }
        // Nobody else may agree for the user.
        guard options.canPrompt else {
            throw .usage("questions are answered on a terminal only", hint: "run `authc approve` on a terminal")
        }
        for line in question.lines { Output.note(Visible.line(line)) }
        let answer = try TerminalInput.ask("Allow this program? [y/N] ", isSecret: false)
        let isAllowed = ["y", "yes"].contains(answer?.lowercased() ?? "")
        let call = ConsentAnswerCall(
            question: question.number, allowed: isAllowed, minutes: isAllowed ? minutes : nil)
        let (_, answered) = try agent.call(call)
        if options.json { return try Output.jsonResult(answered) }
        Output.note(isAllowed ? "The program is allowed." : "The program is refused.")
        return .done
    }
}

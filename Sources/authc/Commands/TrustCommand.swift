import AuthWire
import CommandArguments

struct Trust: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "trust",
        abstract: "Allow a session's tokens to be sent to the new origins of its changed profile.",
        discussion: """
            Shows the former and the new origins, and asks. Until you agree or sign in again, nothing is sent to the new \
            origins, and the session returns no token.
            """)

    @OptionGroup var common: AskingCommonOptions

    @Flag(help: "Agree without a prompt.")
    var yes = false

    func run(_ options: Options) throws(Failure) -> ExitStatus { try TrustQuestion.run(options, agreed: yes) }
}

import AuthWire
import CLinux
import CommandArguments
import Glibc

struct TrialCommand: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "try", abstract: "Show what authd does, with a temporary agent and provider.",
        discussion: """
            Signs in, gets a token, renews it once for five programs, calls an API, shows what happens while the provider \
            cannot be reached, and signs out. It prints the commands that do this, takes about 5 seconds and asks nothing. \
            Your keyring, settings, sessions and agent are not used, nothing is sent to another machine, and its folder is \
            removed at the end, even after ^C.
            """)

    @OptionGroup(visibility: .hidden) var common: PlainOptions

    /// Becomes the program after `--`, which ends with the process of this ID.
    @Option(help: .hidden, completion: .nothing)
    var endWith: Int32?

    @Argument(parsing: .postTerminator, help: .hidden, completion: .nothing)
    var program: [String] = []

    func validate() throws(ValidationError) {
        guard (endWith == nil) == program.isEmpty else { throw ValidationError("`authc try` takes no arguments.") }
    }

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        guard let endWith else { return try Trial.run() }
        guard linux_end_with_parent(SIGTERM) == 0, getppid() == endWith else {
            throw .internalError("the process \(endWith) has ended")
        }
        try ChildProgram(command: program, variables: []).replaceThis()
    }

    /// The command line of a child that the kernel ends with this process, however this ends.
    static func endingWithThis(_ command: [String]) throws(Failure) -> [String] {
        [try InstalledProgram.own(), "try", "--end-with", "\(getpid())", "--"] + command
    }
}

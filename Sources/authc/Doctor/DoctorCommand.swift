import CommandArguments

struct Doctor: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check everything that sessions depend on, and say what to do about each problem.",
        discussion: """
            Checks the socket, the agent, its store, the network, each provider, the clock, the sessions and the modes of \
            the user's files. Problems come first. The exit status is that of the first check that failed, or 0 if there are \
            only warnings.
            """)

    @OptionGroup var common: GeneralOptions

    @Flag(help: "Do what is safe, and check again: start the socket, keep the agent after logout, correct file modes.")
    var fix = false

    @Flag(help: "Print a report to attach to a bug report, without names of accounts, sessions, servers and folders.")
    var report = false

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        try DoctorReport.run(options, fixing: fix, forOthers: report)
    }
}

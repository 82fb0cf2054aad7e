import Glibc

/// Runs short forms of commands that `authc` left to this program: `prompt`, `status`, `token`, `token -s NAME` and
/// `token --for ORIGIN`.
///
/// It must not use `CommandArguments`, whose types cost more at start-up than the whole round trip.
enum HotPath {
    /// The exit status, or `nil` for any other command line.
    static func run() -> Int32? {
        let count = CommandLine.argc
        guard count == 2 || count == 4, let command = argument(1) else { return nil }
        if count == 4 {
            guard command == "token", let value = argument(3) else { return nil }
            switch argument(2) {
            case "-s": return run(Options(session: value)) { options throws(Failure) in try TokenReport.run(options) }
            case "--for" where !value.hasPrefix("-"):
                return run(Options()) { options throws(Failure) in try TokenReport.run(options, origin: value) }
            default: return nil
            }
        }
        switch command {
        case "prompt": return run(Options()) { options throws(Failure) in try PromptReport.run(options) }
        case "status": return run(Options()) { options throws(Failure) in try StatusReport.run(options) }
        case "token": return run(Options()) { options throws(Failure) in try TokenReport.run(options) }
        default: return nil
        }
    }

    private static func run(_ options: Options, _ body: (Options) throws(Failure) -> ExitStatus) -> Int32 {
        Program.run(options, body)
    }

    private static func argument(_ index: Int) -> String? {
        unsafe CommandLine.unsafeArgv[index].map { unsafe String(cString: $0) }
    }
}

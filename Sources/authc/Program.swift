import AuthConnection
import AuthWire

/// Runs a command, reports its failure once, and returns the exit status.
enum Program {
    static func run(_ options: Options, _ body: (Options) throws(Failure) -> ExitStatus) -> Int32 {
        do throws(Failure) {
            return try perform(options, body).rawValue
        } catch {
            var error = error
            let words = CommandLine.arguments.dropFirst() + [environmentValue("AUTHD_SESSION")].compactMap(\.self)
            let hint =
                NameAdvice.hint(for: error, Array(words), options)
                ?? CommandAdvice.hint(for: error, Array(CommandLine.arguments.dropFirst()), options)
            if let hint { error.hint = hint }
            error.report(asJSON: options.json)
            return error.status.rawValue
        }
    }

    /// Once more if polkit had nobody who could ask on this terminal.
    private static func perform(
        _ options: Options, _ body: (Options) throws(Failure) -> ExitStatus
    ) throws(Failure) -> ExitStatus {
        do throws(Failure) {
            return try body(options)
        } catch {
            let isAsked = error.agentError?.cause == AgentError.noPresenceAgentCause
            guard isAsked, options.canPrompt, TextAgent.start() else { throw error }
            defer { TextAgent.end() }
            return try body(options)
        }
    }
}

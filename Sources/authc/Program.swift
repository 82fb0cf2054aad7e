import AuthClient

/// Runs a command, reports its failure once, and returns the exit status.
enum Program {
    static func run(_ options: Options, _ body: (Options) throws(Failure) -> ExitStatus) -> Int32 {
        do throws(Failure) {
            return try body(options).rawValue
        } catch {
            var error = error
            let words = CommandLine.arguments.dropFirst() + [environmentValue("AUTHD_SESSION")].compactMap(\.self)
            if let hint = NameAdvice.hint(for: error, Array(words), options) { error.hint = hint }
            error.report(asJSON: options.json)
            return error.status.rawValue
        }
    }
}

import CStart

/// The command lines that shells run for every prompt and request, as long as nothing is wrong.
///
/// In any other case nothing is printed, and the full program does the whole command again: it alone has options and messages.
enum QuickCommand {
    /// `prompt`
    case prompt
    /// `token`, `token -s NAME` or `token --for ORIGIN`.
    case token(session: Text? = nil, origin: Text? = nil)

    /// `nil` for any other command line.
    init?(_ words: UnsafeBufferPointer<UnsafeMutablePointer<CChar>?>) {
        guard words.count == 2 || words.count == 4, let name = unsafe words[1] else { return nil }
        let command = unsafe Text(cString: name)
        if words.count == 2 {
            if command.equals("prompt") {
                self = .prompt
            } else if command.equals("token") {
                self = .token()
            } else {
                return nil
            }
            return
        }
        guard command.equals("token"), let option = unsafe words[2], let value = unsafe words[3] else { return nil }
        if unsafe Text(cString: option).equals("-s") {
            self = unsafe .token(session: Text(cString: value))
        } else if unsafe Text(cString: option).equals("--for") {
            self = unsafe .token(origin: Text(cString: value))
        } else {
            return nil
        }
    }

    /// Whether the result was printed.
    func run() -> Bool {
        // Without an open stdout, the socket could get its number, and the token would be written to the agent.
        guard start_is_open(STDOUT_FILENO) != 0, let folder = AgentFolder() else { return false }
        switch self {
        case .prompt: return PromptFile.printLine(in: folder)
        case .token(let session, let origin):
            return TokenExchange.printToken(of: session, for: origin, in: folder)
        }
    }
}

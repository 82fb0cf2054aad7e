import ArgumentParser
import AuthClient
import AuthWire
import Glibc

struct Mcp: AgentCommand {
    static let configuration = CommandConfiguration(
        abstract: "Connect a program on standard input and output to an MCP server.",
        discussion: """
            For programs that start their MCP servers as commands. Each request gets the token of the session that is \
            signed in to the URL. Without a session, requests are sent without a token. It never signs in by itself: a \
            request that needs a sign-in fails with the command that signs in.
            """)

    @Argument(help: ArgumentHelp("The server's URL.", valueName: "url"))
    var url: String

    @Option(
        name: [.short, .long], help: "The session. Default: the one that is signed in to the URL.",
        completion: .custom { _, _, _ in KnownNames.sessions() })
    var session: String?

    @Option(
        help: "How long the server may take before it begins a response. Default: 15m.", transform: length)
    var timeout: Duration?

    @OptionGroup var common: SocketOption

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        var words = [try Self.gateway(), "mcp", url]
        if let session { words += ["--session", try Options.sessionName(session, from: "--session").text] }
        if let socket = options.socket { words += ["--socket", socket] }
        if let timeout { words += ["--timeout-ms", "\(timeout.wholeMilliseconds)"] }
        try ChildProgram(command: words, variables: []).replaceThis()
    }

    /// The program with TLS, beside this one (Docs/decisions/gateway.md).
    private static func gateway() throws(Failure) -> String {
        let own = "/proc/self/exe"
        var room = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe room.withUnsafeMutableBytes { bytes in
            unsafe bytes.withMemoryRebound(to: CChar.self) { text in
                unsafe text.baseAddress.map { unsafe readlink(own, $0, text.count) } ?? -1
            }
        }
        guard count > 0, count < room.count, let slash = room[..<count].lastIndex(of: UInt8(ascii: "/")) else {
            throw .internalError("cannot find authd-gateway: \(own) is not there")
        }
        return String(decoding: room[...slash], as: UTF8.self) + "authd-gateway"
    }
}

/// For a command that calls the agent in another program.
struct SocketOption: CommandOptions {
    @Option(help: "The agent's socket.")
    var socket: String?

    @Flag(help: .hidden)
    var noInput = false

    var options: Options { Options(socket: socket, noInput: noInput) }
}

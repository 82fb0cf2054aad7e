import ArgumentParser
import AuthWire

struct Token: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Print an access token that is good now.")

    @OptionGroup var common: CommonOptions

    @Option(help: "Renew it first when it is good for less than this, as in 5m.", transform: length)
    var minValid: Duration?

    @Option(help: "A token of its own for this scope alone; may be given more than once. OAuth only.")
    var scope: [String] = []

    @Option(help: "A token of its own for this audience: the API's address, or its name. OAuth only.")
    var audience: String?

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "Where the token will be sent, as in https://api.example.org: refuse if the session does not belong there.",
            valueName: "origin"))
    var origin: String?

    func run() throws {
        try common.run { options throws(Failure) in
            try TokenReport.run(
                options, minValid: minValid, scopes: scope.isEmpty ? nil : scope, audience: audience, origin: origin)
        }
    }
}

struct Wait: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Wait until a session is active, the network there, or the session signed out.")

    @OptionGroup var common: CommonOptions

    @Option(help: "One of active, online, signed_out.", transform: goal)
    var until: WaitGoal = .active

    func run() throws {
        try common.run { options throws(Failure) in try SessionCommands.wait(options, until: until) }
    }
}

struct WatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Show what happens as it happens.",
        discussion: "On a terminal a live view; else a line for each change, in JSON with --json.")

    @OptionGroup var common: CommonOptions

    func run() throws {
        try common.run { options throws(Failure) in try Watch.run(options) }
    }
}

@Sendable private func goal(_ text: String) throws -> WaitGoal {
    guard let goal = WaitGoal(rawValue: text) else {
        let words = WaitGoal.allCases.map(\.rawValue).joined(separator: ", ")
        throw ValidationError("'\(Visible.line(text))' is none of \(words).")
    }
    return goal
}

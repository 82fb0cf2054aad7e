import AuthConnection
import AuthWire
import CommandArguments

struct Logout: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout", abstract: "Sign out: revoke the tokens and delete the session.")

    @OptionGroup var common: AskingCommonOptions

    @Flag(inversion: .prefixedNo, help: "Revoke the tokens at the provider.")
    var revoke = true

    @Flag(help: "Sign out of every session.")
    var all = false

    @Flag(help: "With --all: do not ask.")
    var yes = false

    func validate() throws(ValidationError) {
        guard !all || common.session == nil else { throw ValidationError("Use --session or --all, not both.") }
        guard all || !yes else { throw ValidationError("--yes belongs to --all.") }
    }

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        if all {
            var signOut = SignOutOfAll(options: options, revokes: revoke, isAgreed: yes)
            return try signOut.run()
        }
        let (status, json) = try options.connect().call(SessionLogout(session: options.chosenSession(), revoke: revoke))
        guard !options.json else { return try Output.jsonResult(json) }
        Self.report(status)
        let login = CommandText.login(
            status.provider, session: status.session, environment: Self.environment(of: status, options))
        Output.note(Visible.line("Sign in again: `\(login)`"))
        return .done
    }

    /// The environment that another sign-in must name: without the session, it would use the profile's default.
    private static func environment(of status: SessionStatus, _ options: Options) -> String? {
        guard let environment = status.environment, !SignInRequestOptions.isURL(status.provider) else { return nil }
        let provider = try? options.connect().call(ProviderShow(ProviderParams(provider: status.provider))).value
        return provider?.environments.first(where: \.isDefault)?.name == environment ? nil : environment
    }

    static func report(_ status: SessionStatus) {
        Output.note(Visible.line("Signed out: \(status.session) at \(status.provider)."))
        if let message = status.message { Output.note(Visible.lines(message)) }
    }
}

import AuthWire
import CommandArguments

/// The protocol of Terraform's and OpenTofu's credentials helpers ("Credentials Helpers" in their documentation). They call a
/// program `terraform-credentials-NAME`: see ``TerraformConfiguration``.
struct TerraformHelper: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "terraform", abstract: "Give Terraform and OpenTofu a token.",
        discussion: "They call it: `authc helper install terraform` configures that.")

    @OptionGroup var common: CommonOptions

    @Argument(
        help: ArgumentHelp("get, store or forget.", valueName: "action"), completion: .list(Self.actions))
    var action: String

    private static let actions = ["get", "store", "forget"]

    @Argument(help: "The host, with a port if it is not 443.", completion: .hosts)
    var host: String

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        guard action == "get" else {
            try Helper.check(action, Self.actions)
            throw Failure(
                status: ExitStatus(.unsupported), kind: ErrorKind.unsupported.rawValue,
                message: "authd does not store tokens for terraform \(action == "forget" ? "logout" : "login")",
                hint: "use `authc login` and `authc logout -s NAME`")
        }
        do throws(Failure) {
            // Scalars: a slash with a combining mark is another character.
            guard !host.unicodeScalars.contains(where: { "/?#\\@".unicodeScalars.contains($0) }) else {
                throw .usage("'\(Visible.line(host))' is not a host")
            }
            // Terraform requests the discovery document with TLS.
            let token = try HelperToken(options: options, origin: "https://" + host).get()
            return try Output.jsonResult(["token": .string(token.accessToken)])
        } catch {
            guard error.isOtherOrigin || error.isWithoutSession || error.status == .noAgent else { throw error }
            // Another status would end the command of a user who needs no credentials for this host.
            error.report(asJSON: false)
            return try Output.jsonResult([:])
        }
    }
}

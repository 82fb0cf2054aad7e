import AuthWire
import CommandArguments
import Glibc

/// The protocol of docker-credential-helpers, which podman, skopeo and buildah use too. They call a program
/// `docker-credential-NAME` with an action: see ``DockerConfiguration``.
struct DockerHelper: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "docker", abstract: "Give docker, podman and skopeo a token as the password.",
        discussion: "They call it: `authc helper install docker --for https://registry.example.org` configures that.")

    /// docker recognizes these words (credentials/error.go of docker-credential-helpers).
    private static let notFound = "credentials not found in native keychain"

    @OptionGroup var common: CommonOptions

    @Option(help: "The user name. Some registries require a particular one.", completion: .nothing)
    var user = HelperToken.standardUser

    @Argument(
        help: ArgumentHelp("get, store, erase or list.", valueName: "action"),
        completion: .list(Self.actions))
    var action: String

    private static let actions = ["get", "store", "erase", "list"]

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        switch action {
        case "get": return try get(options)
        case "list": try Output.json([:])
        // docker logout.
        case "erase": break
        default:
            try Helper.check(action, Self.actions)
            throw Failure(
                status: ExitStatus(.unsupported), kind: ErrorKind.unsupported.rawValue,
                message: "authd does not store registry passwords", hint: "sign in: `authc login`")
        }
        return .done
    }

    private func get(_ options: Options) throws(Failure) -> ExitStatus {
        let bytes = try FileText.read(STDIN_FILENO, named: "stdin", atMost: Helper.longestRequest)
        let server = String(decoding: bytes, as: UTF8.self).filter { !$0.isWhitespace }
        do throws(Failure) {
            let token = try token(for: server, options)
            try Output.json([
                "ServerURL": .string(server), "Username": .string(user), "Secret": .string(token.accessToken),
            ])
            return .done
        } catch {
            // The response that the protocol defines; docker then continues without credentials.
            error.report(asJSON: false)
            try Output.result(Self.notFound)
            return .credentialsNotFound
        }
    }

    private func token(for server: String, _ options: Options) throws(Failure) -> TokenResult {
        if Self.isLocal(server) {
            do throws(Failure) {
                return try HelperToken(options: options, origin: "http://" + server).get()
            } catch {
                guard error.isOtherOrigin else { throw error }
            }
        }
        let origin = server.contains("://") ? server : "https://" + server
        return try HelperToken(options: options, origin: origin).get()
    }

    /// Registries are named without a scheme. Those of this machine use HTTP or TLS.
    private static func isLocal(_ server: String) -> Bool {
        ["localhost", "127.0.0.1"].contains(server.prefix { $0 != "/" && $0 != ":" })
    }
}

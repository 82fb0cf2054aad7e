import AuthConnection
import AuthWire
import CommandArguments

/// client-go's credential plugin (client.authentication.k8s.io).
struct KubernetesHelper: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "kubernetes", abstract: "Give kubectl and other Kubernetes clients a token.",
        discussion: "They call it, as an exec plugin of the user in the kubeconfig file.")

    private static let group = "client.authentication.k8s.io/"
    private static let versions = ["v1", "v1beta1"]

    @OptionGroup var common: CommonOptions

    private static func request() throws(Failure) -> JSON? {
        guard let text = environmentValue("KUBERNETES_EXEC_INFO"), !text.isEmpty else { return nil }
        guard let request = try? JSON(parsing: Array(text.utf8)) else {
            throw .usage("$KUBERNETES_EXEC_INFO is not JSON")
        }
        return request
    }

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        let request = try Self.request()
        let version = request?["apiVersion"]?.stringValue ?? Self.group + Self.versions[0]
        guard Self.versions.map({ Self.group + $0 }).contains(version) else {
            let known = Self.versions.joined(separator: " or ")
            throw .usage(
                "'\(Visible.line(version))' is not a version that authc knows",
                hint: "set apiVersion in the kubeconfig file to \(Self.group)\(known)")
        }
        // With provideClusterInfo, the client says where it sends the token.
        let server = request?["spec"]?["cluster"]?["server"]?.stringValue
        if server == nil, try options.namedSession() == nil {
            throw .usage(
                "the client does not say where it sends the token",
                hint: "set provideClusterInfo: true in the kubeconfig file, or name the session with -s")
        }
        let token = try HelperToken(options: options, origin: server).get()
        var status: JSONObject = ["token": .string(token.accessToken)]
        if let end = token.expiresAt { status["expirationTimestamp"] = .string(WallClock.utc(end)) }
        return try Output.jsonResult([
            "apiVersion": .string(version), "kind": "ExecCredential", "status": .object(status),
        ])
    }
}

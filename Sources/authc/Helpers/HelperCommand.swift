import CommandArguments

/// Answers another program's requests for credentials in that program's own protocol.
struct Helper: ParsableCommand {
    /// Longer than any request from another program.
    static let longestRequest = 64 << 10

    static let configuration = CommandConfiguration(
        commandName: "helper",
        abstract: "Give other programs a session's token, in the protocol that each of them uses.",
        discussion: """
            Without -s, the session is the one that belongs to the server. If there is none, nothing is printed on \
            stdout, and stderr says why.
            """,
        subcommands: [
            GitHelper.self, DockerHelper.self, KubernetesHelper.self, CurlHelper.self, NetrcHelper.self,
            SASLHelper.self, PipHelper.self, CargoHelper.self, WgetHelper.self, TerraformHelper.self,
            SSHCertificateHelper.self, AWSHelper.self, InstallHelper.self,
        ])

    /// - Parameter known: the actions of the protocol.
    static func check(_ action: String, _ known: [String]) throws(Failure) {
        guard !known.contains(action) else { return }
        throw .usage(NameAdvice.refusal(of: action, known))
    }
}

import AuthClient
import AuthWire
import Foundation
import Synchronization
import TestSupport

/// A host of the cluster: its home, and its agent, which is killed, stopped and started again.
final class ClusterHost: Sendable {
    static let provider = "shared"
    let place: ClusterNetwork.Place
    let desktop: Desktop
    private let running = Mutex<Agent?>(nil)

    /// - Parameters:
    ///   - issuer: the provider's.
    ///   - endpoints: of etcd.
    init(_ place: ClusterNetwork.Place, issuer: String, endpoints: [String], _ certificates: EtcdCertificates)
        async throws
    {
        self.place = place
        desktop = try await Desktop()
        let clientKey = try copy(certificates.clientKey, to: "client.key")
        let key = try desktop.folder.write("0123456789abcdef0123456789abcdef", to: "key")
        chmod(key, 0o600)
        let settings = """
            sealed_key = "\(key)"
            [etcd]
            endpoints = \(endpoints)
            ca_file = "\(certificates.authority)"
            certificate_file = "\(certificates.clientCertificate)"
            key_file = "\(clientKey)"
            prefix = "/authd/ada"

            """
        _ = try desktop.folder.write(settings, to: "config/authd/authd.toml")
        let profile = """
            name = "\(Self.provider)"
            title = "Provider"
            issuer = "\(issuer)"
            client_id = "authd-test"
            scopes = ["openid", "offline_access"]
            allow_insecure_http = true
            """
        _ = try desktop.folder.write(profile, to: "config/authd/providers/\(Self.provider).toml")
    }

    private func copy(_ path: String, to name: String) throws -> String {
        let copy = try desktop.folder.write(String(contentsOfFile: path, encoding: .utf8), to: name)
        chmod(copy, 0o600)
        return copy
    }

    var address: String { place.address }
    var socket: String { desktop.folder.path + "/run/authd/socket" }

    var agent: Agent {
        get throws {
            guard let agent = running.withLock({ $0 }) else { throw Failure("\(address) has no agent") }
            return agent
        }
    }

    func start() async throws {
        let agent = try await Agent(
            on: desktop, ["--store", "etcd", "--log-level", "info"],
            // The machine's NetworkManager and logind must not affect it.
            with: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(desktop.folder.path)/system-bus"], through: place.through)
        running.withLock { $0 = agent }
    }

    func signal(_ signal: Int32) throws { try agent.child.kill(signal) }

    func kill() async { await running.withLock { $0 }?.child.end(SIGKILL) }

    func end() async {
        await kill()
        await desktop.end()
    }

    /// Signs in on "another device".
    /// - Parameter approve: enters the code there.
    func signIn(approve: (String) throws -> Void) async throws {
        let login = try await Child(
            [Programs.authc, "login", Self.provider, "--method", "device"], environment: desktop.environment)
        guard await login.err.wait(for: "code: "),
            let code = login.err.text.firstMatch(of: /code: ([A-Z]{4}-[A-Z]{4})/)?.1
        else { throw Failure("no code was shown: \(await login.err.all())") }
        try approve(String(code))
        let output = await login.output()
        guard output.status == 0 else { throw Failure("sign-in: \(output.err)") }
    }

    /// The user carries the code from the other host to this one.
    func admit(_ other: ClusterHost) async throws {
        let joined = try await other.agent.authc("cluster", "join")
        guard joined.status == 0 else { throw Failure("authc cluster join: \(joined.err)") }
        let admitted = try await agent.authc(
            "cluster", "admit", joined.out.trimmingCharacters(in: .whitespacesAndNewlines))
        guard admitted.status == 0 else { throw Failure("authc cluster admit: \(admitted.err)") }
    }

    /// The end of what the agent wrote, for a report.
    var lastLines: String {
        let lines = running.withLock { $0 }?.child.err.text.split(separator: "\n") ?? []
        // Each request of a client is one line of the audit log.
        return lines.filter { !$0.contains("Audit:") }.suffix(20).joined(separator: "\n")
    }
}

import AuthWire
import Foundation
import TestSupport

/// A laptop, a gateway and a provider behind it, in separate network namespaces, with a running authd on the laptop.
///
///     laptop  near 10.1.0.1 ── far 10.1.0.2  gateway  (provider 10.77.0.1, on its loopback link)
final class NetworkLab: Sendable {
    let folder: TemporaryFolder
    let provider: Child
    let port: Int
    private let laptop: Child
    private let gateway: Child
    let environment: [String: String]
    private static let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "lab.py").path
    static let address = "10.77.0.1"

    var socket: String { folder.path + "/run/authd/socket" }

    /// Builds it, signs in to the session `lab`, runs the test and ends everything.
    ///
    /// - Parameters:
    ///   - name: the provider's host name, instead of its address.
    ///   - isSecure: the provider uses HTTPS, and the agent trusts the certificates of `lab.pem` and `other.pem`.
    ///   - more: environment variables of the agent.
    ///   - wrapper: a command that starts the agent.
    static func play(
        _ test: @escaping @Sendable (NetworkLab, _ agent: Child) async throws -> Void, name: String? = nil,
        isSecure: Bool = false,
        with more: [String: String] = [:], wrapping wrapper: [String] = []
    ) async throws {
        let lab = try await NetworkLab(name: name, isSecure: isSecure)
        let agent = try await lab.startAgent(with: more, wrapping: wrapper)
        let result: Result<Void, any Error>
        do {
            try await lab.signIn()
            try await test(lab, agent)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        for child in [agent, lab.provider, lab.gateway, lab.laptop] { await child.end(SIGKILL) }
        try result.get()
    }

    private init(name: String?, isSecure: Bool) async throws {
        folder = try TemporaryFolder(syncs: false)
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        environment = [
            "HOME": try folder.folder("home"), "XDG_RUNTIME_DIR": try folder.folder("run"), "LANG": "C.UTF-8",
            "XDG_CONFIG_HOME": try folder.folder("config"), "XDG_STATE_HOME": try folder.folder("state"),
            // The machine's NetworkManager and logind must not affect the laptop.
            "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(folder.path)/system-bus", "PATH": path + ":/usr/sbin:/sbin",
        ]
        _ = try folder.write("127.0.0.1 localhost\n\(Self.address) lab.test\n", to: "hosts")
        _ = try folder.write("nameserver 10.77.0.53\n", to: "resolv.conf")
        // Root needs only a network namespace; other users also create a user namespace.
        laptop = try await Self.holder(
            ["unshare", getuid() == 0 ? "-nm" : "-Urnm"],
            "mount --bind \(folder.path)/hosts /etc/hosts && mount --bind \(folder.path)/resolv.conf /etc/resolv.conf",
            environment)
        gateway = try await Self.holder(Self.enter(laptop) + ["unshare", "-n"], "true", environment)
        try await Self.run(
            Self.enter(laptop),
            """
            ip link add near type veth peer name far netns \(gateway.pid) && ip link set lo up && ip link set near up &&
            ip addr add 10.1.0.1/24 dev near
            """, environment)
        try await Self.run(
            Self.enter(gateway),
            """
            ip link set lo up && ip link set far up && ip addr add 10.1.0.2/24 dev far && ip addr add 10.2.0.2/24 dev far &&
            ip addr add \(Self.address)/32 dev lo
            """, environment)
        // The kernel takes up to a second to detect a carrier.
        try await Self.run(
            Self.enter(laptop),
            "until ip -o link show near | grep -q \"state UP\"; do :; done; ip route add default via 10.1.0.2",
            environment)
        let life = try folder.write("3600 0", to: "life")
        let certificate = isSecure ? [try await Self.certificates(in: folder)] : []
        provider = try await Child(
            Self.enter(gateway) + [Self.python, Self.script, "provider", Self.address, life] + certificate,
            environment: environment)
        port = try await Self.port(of: provider)
        let url = "\(isSecure ? "https" : "http")://\(name ?? Self.address):\(port)"
        _ = try folder.write(Self.profile("lab", at: url), to: Self.file("lab"))
    }

    /// One for the provider, and one for another host.
    /// - Returns: the provider's file.
    private static func certificates(in folder: TemporaryFolder) async throws -> String {
        for (file, owner) in [("lab", "IP:\(address)"), ("other", "DNS:hotel.example")] {
            try await run(
                [],
                """
                cd \(folder.path) && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
                -subj /CN=\(file) -addext subjectAltName=\(owner) -keyout \(file).key -out \(file).crt &&
                cat \(file).key \(file).crt >\(file).pem && cat \(file).crt >>trusted.crt
                """, ["PATH": "/usr/bin:/bin"])
        }
        _ = try folder.write("[http]\nca_file = \"\(folder.path)/trusted.crt\"\n", to: "config/authd/authd.toml")
        return folder.path + "/lab.pem"
    }

    /// The system's: another one on the path may lack the desktop's packages.
    static let python = "/usr/bin/python3"

    private static func file(_ name: String) -> String { "config/authd/providers/\(name).toml" }

    // MARK: Parts

    /// Keeps a namespace until it is ended.
    private static func holder(
        _ command: [String], _ setup: String, _ environment: [String: String]
    ) async throws -> Child {
        let child = try await Child(
            command + ["sh", "-c", "\(setup) && echo ready && exec sleep infinity"], environment: environment)
        guard await child.out.wait(for: "ready") else {
            throw Failure(
                "No network namespace can be made here, and this test needs one. Run it as root, or allow user "
                    + "namespaces (sysctl kernel.unprivileged_userns_clone=1, and on Ubuntu "
                    + "kernel.apparmor_restrict_unprivileged_userns=0): \(await child.err.all())")
        }
        return child
    }

    private static func enter(_ holder: Child) -> [String] {
        let user = getuid() == 0 ? [] : ["-U", "--preserve-credentials"]
        return ["nsenter", "-t", "\(holder.pid)"] + user + ["-n", "-m", "--"]
    }

    @discardableResult
    private static func run(
        _ prefix: [String], _ command: String, _ environment: [String: String]
    ) async throws -> String {
        let output = try await Child(prefix + ["sh", "-c", command], environment: environment).output()
        guard output.status == 0 else { throw Failure("\(command): \(output.err)") }
        return output.out
    }

    private static func port(of server: Child) async throws -> Int {
        guard await server.out.wait(for: "\n"), let line = server.out.text.split(separator: "\n").first,
            let port = Int(line.dropFirst("port ".count))
        else { throw Failure("a server did not start: \(server.err.text)") }
        return port
    }

    @discardableResult
    func onLaptop(_ command: String) async throws -> String {
        try await Self.run(Self.enter(laptop), command, environment)
    }

    @discardableResult
    func onGateway(_ command: String) async throws -> String {
        try await Self.run(Self.enter(gateway), command, environment)
    }

    /// A server of lab.py on the gateway, and its port.
    func serve(_ arguments: String...) async throws -> (server: Child, port: Int) {
        let server = try await Child(
            Self.enter(gateway) + [Self.python, Self.script] + arguments, environment: environment)
        return (server, try await Self.port(of: server))
    }

    /// For the next access tokens.
    /// - Parameter providerAhead: seconds by which the provider's clock is wrong; it then sends dates.
    func setLife(seconds: Int, providerAhead: Int = 0) throws {
        _ = try folder.write("\(seconds) \(providerAhead)", to: "life")
    }

    /// Whether the provider refuses renewals with a final answer from now on.
    func setEnding(_ isEnding: Bool) throws {
        if isEnding {
            _ = try folder.write("", to: "life.ended")
        } else {
            try FileManager.default.removeItem(atPath: folder.path + "/life.ended")
        }
    }

    /// The user's settings, for the next reload.
    func set(_ settings: String) throws {
        _ = try folder.write(settings, to: "config/authd/authd.toml")
    }

    /// Has the agent use these rules of the user.
    func applyRules(_ rules: String) async throws {
        _ = try folder.write(rules, to: "config/authd/policy.toml")
        let client = try RawClient(socket)
        guard try client.ask("policy.apply", ["accepted": .string(rules)])["result"]?["applied"] == true else {
            throw Failure("the rules are not in use")
        }
    }

    /// Another provider, for the next reload.
    func addProvider(_ name: String, at url: String) throws {
        _ = try folder.write(Self.profile(name, at: url), to: Self.file(name))
    }

    // MARK: The agent

    private func startAgent(with more: [String: String], wrapping wrapper: [String]) async throws -> Child {
        let notifications = try NotifySocket(at: folder.path + "/notify")
        var environment = environment.merging(more) { $1 }
        environment["NOTIFY_SOCKET"] = notifications.path
        // In root's user namespace the message bus would not know our user ID: it is mapped back.
        let asOurselves =
            getuid() == 0 ? [] : ["unshare", "--user", "--map-user=\(getuid())", "--map-group=\(getgid())", "--"]
        let agent = try await Child(
            Self.enter(laptop) + wrapper + asOurselves + [Programs.authd, "--store", "memory", "--log-level", "debug"],
            environment: environment)
        agent.whenEnded { _ in notifications.end() }
        guard await notifications.message({ $0.contains("READY=1") }) != nil else {
            throw Failure("authd did not become ready: \(await agent.err.all())")
        }
        return agent
    }

    func signIn(_ provider: String = "lab") async throws {
        let login = try await authc(
            "login", provider, "--field", "email=ada@example.org", "--password-stdin", input: "Correct-horse1")
        guard login.status == 0 else { throw Failure("login: \(login.err)") }
    }

    /// The socket is a file, so no namespace is entered.
    func authc(_ arguments: String..., input: String? = nil) async throws -> Child.Output {
        try await Child(
            [Programs.authc] + arguments, environment: environment, input: input.map(Child.Input.text) ?? .none
        ).output()
    }

    /// A program that is still running.
    func start(_ arguments: [String], input: String? = nil) async throws -> Child {
        try await Child(
            [Programs.authc] + arguments, environment: environment, input: input.map(Child.Input.text) ?? .none)
    }

    func network() async throws -> NetworkStatus {
        try NetworkStatus(JSON(parsing: Array(try await authc("network", "--json").out.utf8)))
    }

    /// The events from now on, as JSON, after a snapshot.
    func watch() async throws -> Child {
        let watch = try await Child([Programs.authc, "watch", "--json"], environment: environment)
        guard await watch.out.wait(for: "\"snapshot\"") else { throw Failure("no events: \(watch.err.text)") }
        return watch
    }

    func networkLines() async throws -> Child {
        try await Child([Programs.authc, "network", "--watch"], environment: environment)
    }

    private static func profile(_ name: String, at url: String) -> String {
        """
        name = "\(name)"
        title = "\(name)"
        allow_insecure_http = true
        api.waits_for_connectivity = true

        [environments]
        lab = "\(url)"

        [sign_in.password]
        label = "Password"
        fields = [
            { name = "email", label = "E-mail", kind = "email" },
            { name = "password", label = "Password", kind = "password" },
        ]

        [sign_in.password.request]
        method = "POST"
        path = "/login"
        body = { email = "{email}", password = "{password}" }

        [reply]
        access_token = "/access_token"
        refresh_token = "/refresh_token"
        expires_in = "/expires_in"
        expires_at = "/expires_at"
        user = "/user"

        [errors]
        code = "/error"

        [user]
        id = "/id"
        email = "/email"

        [user_request]
        user = "/user"

        [user_request.request]
        method = "GET"
        path = "/me"
        bearer = true

        [validation]
        method = "GET"
        path = "/me"
        bearer = true

        [renewal]
        kind = "refresh"
        final_codes = ["invalid_grant"]

        [renewal.request]
        method = "POST"
        path = "/refresh"
        body = { refresh_token = "{refresh_token}" }
        """
    }
}

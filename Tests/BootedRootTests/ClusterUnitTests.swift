import Foundation
import StandInBackends
import TestSupport
import Testing

/// What Docs/cluster.md shows for systemd, on a machine with one member of etcd.
@Suite("The units of a cluster", .serialized, .timeLimit(.minutes(5)))
struct ClusterUnitTests {
    private static let page = "Docs/cluster.md"

    private func block(_ language: String, _ word: String) throws -> String {
        try #require(try BootedMachine.blocks(of: Self.page, language).first { $0.contains(word) }, "\(word)")
    }

    /// Puts a file into the machine, for its root.
    private func install(_ text: String, at path: String, mode: String, on machine: BootedMachine) async throws {
        let script = #"mkdir -p "$(dirname "$0")" && cat >"$0" && chmod "$1" "$0""#
        let installed = try await machine.start(["sh", "-c", script, path, mode], input: text).output()
        guard installed.status == 0 else { throw Failure("\(path): \(installed.err)") }
    }

    /// The page's unit, as the only member, at ports of this machine.
    private func startEtcd(_ certificates: EtcdCertificates, on machine: BootedMachine) async throws -> Int {
        let (port, peer) = (try FreePort.find(), try FreePort.find())
        let unit = try block("ini", "ExecStart=/usr/bin/etcd")
            .replacing(/--initial-cluster \S+/, with: "--initial-cluster etcd-1=https://etcd-1.example.org:2380")
            .replacing("etcd-1.example.org", with: "localhost").replacing("192.0.2.1", with: "127.0.0.1")
            .replacing(":2379", with: ":\(port)").replacing(":2380", with: ":\(peer)")
        try await install(unit, at: "/etc/systemd/system/etcd.service", mode: "644", on: machine)
        for (name, file) in [
            ("ca.pem", certificates.authority), ("member.pem", certificates.serverCertificate),
            ("member.key", certificates.serverKey),
        ] {
            try await install(
                String(contentsOfFile: file, encoding: .utf8), at: "/etc/etcd/" + name, mode: "600", on: machine)
        }
        let started = try await machine.asRoot("sh", "-c", "systemctl daemon-reload && systemctl start etcd.service")
        guard started.status == 0 else {
            throw Failure("etcd: \(try await machine.asRoot("journalctl", "-o", "cat", "-u", "etcd.service").out)")
        }
        return port
    }

    /// The page's commands for a user, with passwords.
    private func addUser(at port: Int, on machine: BootedMachine) async throws {
        let files = ["--cacert", "/etc/authd/etcd-ca.pem", "--cert", "/etc/authd/etcd-client.pem"]
        let access = ["--endpoints", "https://localhost:\(port)", "--key", "/people/ada/.config/authd/etcd-client.key"]
        for line in try block("sh", "etcdctl user add root").split(separator: "\n") {
            let words = line.prefix { $0 != "#" }.split(separator: " ").map(String.init)
            let given = words.map { word in
                words.contains("add") && words[1] == "user" && word == words.last ? "\(word):\(word)-password" : word
            }
            let command = ["env", "ETCDCTL_API=3", "etcdctl"] + files + access + given.dropFirst()
            let done = try await machine.asRoot(command)
            guard done.status == 0 else { throw Failure("\(command): \(done.err)") }
        }
    }

    @Test("a member of etcd runs with the page's unit, and authd uses it with both of its credentials")
    func credentials() async throws {
        let certificates = try await EtcdCertificates()
        try await BootedMachine.play { machine in
            let port = try await startEtcd(certificates, on: machine)
            for (path, file) in [
                ("/etc/authd/etcd-ca.pem", certificates.authority),
                ("/etc/authd/etcd-client.pem", certificates.clientCertificate),
            ] {
                try await install(String(contentsOfFile: file, encoding: .utf8), at: path, mode: "644", on: machine)
            }
            let key = ".config/authd/etcd-client.key"
            try await machine.write(String(contentsOfFile: certificates.clientKey, encoding: .utf8), to: key)
            try await machine.person("chmod", "600", "/people/ada/" + key)
            try await addUser(at: port, on: machine)

            // The password comes from its credential.
            let settings = try block("toml", "[etcd]").replacing("/home/ada", with: "/people/ada")
                .replacing(/endpoints = .*/, with: "endpoints = [\"https://localhost:\(port)\"]")
                .split(separator: "\n").filter { !$0.contains("password_file") }.joined(separator: "\n")
            let former = try await machine.person("cat", "/people/ada/.config/authd/authd.toml")
            try await machine.write(settings + "\n" + former, to: ".config/authd/authd.toml")
            try await install("ada-password", at: "/run/etcd-password", mode: "600", on: machine)
            let sealed = try await machine.asRoot("bash", "-euc", try block("sh", "systemd-creds"))
            #expect(sealed.status == 0, "\(sealed.err)")
            try await machine.startAgain()
            try await machine.person("bash", "-euc", try block("sh", "CREDENTIALS_DIRECTORY="))

            try await machine.signIn()
            let token = try await machine.authc("token").out
            let status = try await machine.authc("cluster", "status")
            #expect(status.status == 0 && status.out.contains("leader"), "\(status)")
            // A stop hands nothing over: the next start has only etcd.
            try await machine.person("systemctl", "--user", "stop", "authd.service")
            #expect(try await machine.authc("token").out == token)
            try await machine.person("systemctl", "--user", "stop", "authd.service")
            let restarted = try await machine.asRoot("systemctl", "restart", "etcd.service")
            #expect(restarted.status == 0, "\(restarted.err)")
            #expect(try await machine.authc("token").out == token)
        }
    }
}

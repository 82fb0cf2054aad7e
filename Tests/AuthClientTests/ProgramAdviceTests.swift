import Foundation
import TestSupport
import Testing

/// Every command of another program that a message names can be run as it stands.
@Suite("Commands of other programs that messages name")
struct ProgramAdviceTests {
    /// The commands that cannot be checked otherwise.
    private static let known: Set = [
        "ssh-keygen -t ed25519 -f x", "sudo apt install age", "ip route",
        "git config --global --unset-all x",
        "etcdctl compact REVISION", "etcdctl defrag --cluster", "etcdctl alarm disarm",
        "etcdctl endpoint status -w json", "etcdctl endpoint status --cluster -w table", "etcdctl member list",
        "ip link", "nmcli device status", "xdg-open http://example.com", "curl -I x", "kill x", "df -h x",
        "xdg-open https://example.org",
        "busctl --user status org.freedesktop.secrets", "unset AUTHD_SOCKET", "unset AUTHD_SOCKET XDG_RUNTIME_DIR",
        "export XDG_RUNTIME_DIR=x", #"export XDG_RUNTIME_DIR=\"$HOME/.authd-run\""#,
    ]

    @Test("units are installed, chmod has a path, authd accepts its options, and every other command is known")
    func programs() async throws {
        let sources = try AdviceTests.files(below: "Sources", ending: ".swift")
        let others = try [".py", ".toml"].flatMap { try AdviceTests.files(below: "Sources", ending: $0) }
        let texts = sources.map { ($0.path, AdviceTests.code($0.text)) } + others.map { ($0.path, $0.text) }
        let units = Set(try AdviceTests.files(below: "systemd", ending: "").map { $0.path.dropFirst("systemd/".count) })
        var (count, unused) = (0, Self.known)
        let command = try Regex(
            "`((?:authd|systemctl|journalctl|loginctl|ssh-keygen|chmod|apt|apt-get|sudo|etcdctl|git|ip|timedatectl"
                + "|curl|kill|nmcli|busctl|xdg-open|df|unset|export) [^`\\n]*)`", as: (Substring, Substring).self)
        for (path, text) in texts {
            for match in text.matches(of: command) {
                count += 1
                let words = match.1.split(separator: " ").map(String.init)
                let names = words.dropFirst().filter { !$0.hasPrefix("-") }
                switch words[0] {
                case "systemctl":
                    #expect(names.count >= 2, "\(path): \(match.1)")
                    #expect(names.dropFirst().allSatisfy { Self.isUnit($0, of: units) }, "\(path): \(match.1)")
                case "journalctl":
                    #expect(names.allSatisfy { Self.isUnit($0, of: units) }, "\(path): \(match.1)")
                case "chmod": #expect(words.count == 3, "\(path): \(match.1)")
                case "authd":
                    let status = try await Self.status(ofAuthd: Array(words.dropFirst()))
                    #expect(status == 0, "\(path): \(match.1)")
                default:
                    #expect(Self.known.contains(String(match.1)), "\(path): \(match.1)")
                    unused.remove(String(match.1))
                }
            }
        }
        #expect(count > 20 && unused.isEmpty, "\(count), \(unused)")
    }

    /// systemctl(1): a name without a suffix is a service. A name that is filled in is that of the agent's own unit.
    private static func isUnit(_ name: String, of units: Set<Substring>) -> Bool {
        name == "x" || units.contains(name.contains(".") ? name[...] : name + ".service")
    }

    /// With `--check`, authd ends without serving.
    private static func status(ofAuthd words: [String]) async throws -> Int32 {
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let isCheck = words.contains("--check")
        return try await Program.run(
            words + (isCheck ? [] : ["--check"]), folder: folder, program: Programs.folder + "/authd"
        ).status
    }
}

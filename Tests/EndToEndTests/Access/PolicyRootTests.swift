import AuthWire
import Foundation
import Glibc
import StandInBackends
import TestSupport
import Testing

/// Root's file of access rules, with an agent that sees another /etc. `Tests/run-suites` leaves suites of this name out
/// unless it runs as root.
@Suite("Root's access rules (as root)", .timeLimit(.minutes(2)))
struct PolicyRootTests {
    /// Becomes the command that follows, with a folder over /etc/authd.
    private static func mounted(_ folder: String) -> [String] {
        let script = """
            mkdir -p "$0/etc" "$0/layer" && mount -t tmpfs none "$0/layer" && mkdir "$0/layer/upper" "$0/layer/work" \
            && mount -t overlay none -o "lowerdir=/etc,upperdir=$0/layer/upper,workdir=$0/layer/work" /etc \
            && mkdir -p /etc/authd && mount --bind "$0/etc" /etc/authd && exec "$@"
            """
        return ["unshare", "-m", "sh", "-c", script, folder]
    }

    private static let exports = """
        [[rule]]
        name = "scripts"
        effect = "allow"
        class = "admin"

        """

    @Test("they allow what a default denies, are read at the start and at a reload, and the user's rules narrow them")
    func root() async throws {
        try await Scene.play { scene in
            #expect(try await scene.login(.appTemplate).status == 0)
            let place = try scene.desktop.folder.folder("root")
            let file = place + "/etc/policy.toml"
            func write(_ text: String, mode: mode_t = 0o644) throws {
                _ = try scene.desktop.folder.write(text, to: "root/etc/policy.toml")
                #expect(chmod(file, mode) == 0)
            }
            func export() async throws -> Child.Output {
                try await scene.desktop.run(["setsid", "-w", Programs.authc, "reload", "--json"])
            }
            try write("enforce = true\n")
            try await scene.restart(through: Self.mounted(place))
            let denied = try await export()
            #expect(denied.status == 77 && denied.out.contains("default.no-login-terminal"), "\(denied)")

            // A signal reads it again, on the connection that is open too.
            try write("enforce = true\n" + Self.exports)
            kill(try scene.agent.child.pid, SIGHUP)
            #expect(try await until { try await export().status == 0 })
            let tested = try await scene.desktop.run(["setsid", "-w", Programs.authc, "policy", "test", "agent.reload"])
            #expect(tested.out.hasPrefix("allowed by root.scripts"), "\(tested)")

            // The user's rules narrow it. Root's file switches enforcement on for them.
            try scene.writePolicy("[[rule]]\nname = \"no-tokens\"\neffect = \"deny\"\nmethod = \"token.get\"\n")
            #expect(try await scene.authc(["token"]).status == 0)
            try await onThread { [path = scene.desktop.folder.path] in
                let client = try RawClient(path + "/run/authd/socket")
                let text = try client.ask("policy.apply")["result"]?["text"] ?? ""
                _ = try client.ask("policy.apply", ["accepted": text])
            }
            let token = try await scene.authc(["token"])
            #expect(token.status == 77 && token.err.contains("user.no-tokens"), "\(token)")

            // Others can change it: a reload keeps what is in use, and a start closes account and admin.
            try write("enforce = false\n", mode: 0o666)
            let reload = try await export()
            #expect(reload.status == 78 && reload.out.contains("cannot change"), "\(reload)")
            #expect(try await scene.authc(["token"]).status == 77)
            try await scene.restart(through: Self.mounted(place))
            let closed = try await export()
            #expect(closed.status == 77 && closed.out.contains("root.broken-file"), "\(closed)")
            #expect(try scene.agent.child.err.text.contains("/etc/authd/policy.toml"))
        }
    }
}

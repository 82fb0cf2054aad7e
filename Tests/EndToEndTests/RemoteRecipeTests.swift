import Foundation
import StandInBackends
import TestSupport
import Testing

/// The recipes for a remote machine and a sandbox, with real ssh, sshd and bwrap.
@Suite("Recipes: the extra socket elsewhere", .timeLimit(.minutes(2)))
struct RemoteRecipeTests {
    private static let rules = "sessions = [\"app-template\"]\nclasses = [\"status\", \"act\"]\nendpoints = [\"users\"]"

    private static func play(_ test: @escaping @Sendable (Scene) async throws -> Void) async throws {
        try await Scene.play { scene in
            #expect(try await scene.login(.appTemplate).status == 0)
            #expect(try await scene.login(.envelope).status == 0)
            _ = try await scene.openExtra(rules)
            try await test(scene)
        }
    }

    @Test("over ssh -R the listed session is there, a listed call works, and a token is refused")
    func remote() async throws {
        try await Self.play { scene in
            let folder = try scene.desktop.folder.folder("ssh")
            _ = try scene.desktop.folder.write(
                """
                HostKey \(folder)/host
                AuthorizedKeysFile \(folder)/key.pub
                StrictModes no
                UsePAM no
                PermitRootLogin yes
                PidFile none
                StreamLocalBindUnlink yes
                """, to: "ssh/sshd_config")
            // Without a port. As root it needs an empty folder at a fixed place, so it gets a separate one.
            _ = try scene.desktop.folder.write(
                """
                serve='exec /usr/sbin/sshd -i -e -f "$0"'
                [ "$(id -u)" = 0 ] || exec sh -c "$serve" "$1"
                exec unshare --mount sh -c "mount -t tmpfs tmpfs /run && mkdir /run/sshd && $serve" "$1"
                """, to: "ssh/serve")
            let keys = try await scene.shell(
                "for name in key host; do ssh-keygen -q -t ed25519 -N '' -f \(folder)/$name; done")
            #expect(keys.status == 0, "\(keys.err)")
            let options = """
                -F none -i \(folder)/key -o IdentitiesOnly=yes -o BatchMode=yes -o StrictHostKeyChecking=no \
                -o UserKnownHostsFile=/dev/null -o ExitOnForwardFailure=yes -o LogLevel=ERROR \
                -o ProxyCommand="sh \(folder)/serve \(folder)/sshd_config" "$(id -un)@build.example.org"
                """
            let recipe = try Recipes.block(with: "ssh -R").split(separator: "\n").last.map(String.init) ?? ""
            #expect(recipe.contains("/run/user/1000/authd-remote") && recipe.hasSuffix(" build.example.org"))
            let command = recipe.replacing("/run/user/1000/authd-remote", with: folder + "/remote")
                .replacing(" build.example.org", with: " " + options)
            func there(_ arguments: String) async throws -> Child.Output {
                try await scene.shell("\(command) AUTHD_SOCKET=\(folder)/remote $0 \(arguments)")
            }
            let list = try await there("list")
            #expect(list.status == 0 && list.out.contains("app-template"), "\(list)")
            #expect(!list.out.contains("envelope"), "\(list)")
            let users = try await there("call users")
            #expect(users.status == 0 && users.out.contains("ada@example.org"), "\(users)")
            let token = try await there("token")
            #expect(token.status == 77 && token.out.isEmpty, "\(token)")
        }
    }

    @Test("in bwrap the mounted folder gives the listed session, and the main socket no more than that")
    func sandbox() async throws {
        try await Self.play { scene in
            let recipe = try Recipes.block(with: "bwrap --ro-bind").trimmingCharacters(in: .newlines)
            #expect(recipe.hasSuffix("authc list"))
            let inside = String(recipe.dropLast("authc list".count))
            let list = try await scene.shell(inside + "$0 list")
            #expect(list.status == 0 && list.out.contains("app-template"), "\(list)")
            #expect(!list.out.contains("envelope"), "\(list)")
            let token = try await scene.shell(inside + "$0 token")
            #expect(token.status == 77 && token.out.isEmpty, "\(token)")
            let hidden = try await scene.shell(inside + "ls \"$XDG_RUNTIME_DIR\"")
            #expect(hidden.out == "authd-extra\n", "\(hidden)")
            // The main socket in the same sandbox.
            let other = inside.replacing("authd-extra", with: "authd")
            let reached = try await scene.shell("\(other)$0 list && \(other)$0 token")
            #expect(reached.status == 77 && reached.out.contains("app-template"), "\(reached)")
            #expect(!reached.out.contains("envelope") && reached.err.contains("sandbox"), "\(reached)")
        }
    }
}

import Foundation
import StandInBackends
import TestSupport
import Testing

/// The recipe for containers with an ordinary user's podman, whose containers have a user namespace.
@Suite("Recipes: the extra socket in a rootless container", .serialized, .timeLimit(.minutes(5)))
struct RootlessContainerTests {
    private static let rules = """

        [listener.extra]
        listen = true
        sessions = ["app-template"]
        classes = ["status", "act"]
        endpoints = ["users"]

        """

    /// The files that the recipe mounts, and what rootless podman needs of a machine (podman(1), "Rootless mode").
    private static let setUp = """
        install -D /usr/lib/authd-built/authc /usr/bin/authc
        install -D /usr/lib/authd-built/authc-full /usr/libexec/authd-session/authc-full
        echo ada:500000:65536 | tee /etc/subuid > /etc/subgid
        # The kernel allows no new /proc in a user namespace while parts of this one are hidden.
        umount -l /proc/sys
        """

    /// An image with a shell, as its registry would have it. This machine may have no cgroups for containers, and no network.
    private static let image = """
        mkdir -p ~/.config/containers ~/image/bin && cd ~/image && cp /bin/busybox bin/ && ln -s busybox bin/sh
        printf '[storage]\\ndriver = "vfs"\\n' > ~/.config/containers/storage.conf
        printf '%s\\n' '[containers]' 'cgroups = "disabled"' 'netns = "none"' 'default_sysctls = []' \
            'default_ulimits = ["nofile=1000:1000", "nproc=1000:1000"]' '[engine]' 'events_logger = "none"' \
            > ~/.config/containers/containers.conf
        tar -c . | podman import - registry.example.org/build
        """

    @Test("root and the user in the container get the listed session, other users of the container nothing")
    func rootless() async throws {
        try await BootedMachine.play { machine in
            let prepared = try await machine.asRoot("sh", "-euc", Self.setUp)
            #expect(prepared.status == 0, "\(prepared)")
            try await machine.person("sh", "-euc", Self.image)
            try await machine.signIn()
            let other = try await machine.authc(
                "login", Backend.envelope.rawValue, "--environment", "local", "--field", "email=ada@example.org",
                "--password-stdin", input: "Correct-horse1")
            #expect(other.status == 0, "\(other)")
            let settings = ".config/authd/authd.toml"
            let former = try await machine.person("cat", "/people/ada/" + settings)
            try await machine.write(former + Self.rules, to: settings)
            try await machine.person("systemctl", "--user", "reload", "authd.service")
            let opened = "until [ -S /run/user/1000/authd-extra/socket ]; do :; done"
            try await machine.person("timeout", "60", "bash", "-c", opened)

            let recipe = try #require(
                try BootedMachine.blocks(of: "Docs/recipes.md", "sh").first { $0.contains("podman run") }
            ).replacing("/usr/lib/authd-built/auth", with: "/usr/bin/auth").trimmingCharacters(in: .newlines)
            let (start, end) = ("podman run ", "authc list")
            #expect(recipe.hasPrefix(start) && recipe.hasSuffix(" registry.example.org/build " + end))
            func run(_ options: String, _ command: String) async throws -> Child.Output {
                let inside = recipe.dropFirst(start.count).dropLast(end.count)
                return try await machine.asPerson(["sh", "-c", start + options + " " + inside + command])
            }
            let whole = try await machine.asPerson(["sh", "-c", recipe])
            #expect(whole.status == 0 && whole.out.contains("app-template"), "\(whole)")
            for options in ["", "--userns=keep-id"] {
                let list = try await run(options, "authc list")
                #expect(list.status == 0 && list.out.contains("app-template"), "\(options) \(list)")
                #expect(!list.out.contains("envelope"), "\(options) \(list)")
                let users = try await run(options, "authc call users")
                #expect(users.status == 0 && users.out.contains("ada@example.org"), "\(options) \(users)")
                let token = try await run(options, "authc token")
                #expect(token.status == 77 && token.out.isEmpty, "\(options) \(token)")
            }
            let stranger = try await run("--user 1234:1234", "authc list")
            #expect(stranger.status == 69 && stranger.out.isEmpty, "\(stranger)")

            // Another container, with a separate socket and table.
            func block(_ language: String, _ text: String) throws -> String {
                let blocks = try BootedMachine.blocks(of: "Docs/recipes.md", language)
                return try #require(blocks.first { $0.contains(text) }).replacing("\"work\"", with: "\"envelope\"")
            }
            try await machine.write(
                try block("ini", "FileDescriptorName=box"), to: ".config/systemd/user/authd-box.socket")
            try await machine.write(former + Self.rules + block("toml", "[listener.box]"), to: settings)
            try await machine.person("bash", "-euc", try block("sh", "systemctl --user enable authd-box.socket"))
            let command = try block("sh", "/authd.box:/run/authd:ro")
                .replacing("/usr/lib/authd-built/auth", with: "/usr/bin/auth").trimmingCharacters(in: .newlines)
            let last = "authc status -s work"
            #expect(command.hasSuffix(" " + last))
            func runInBox(_ words: String) async throws -> Child.Output {
                try await machine.asPerson(["sh", "-c", command.dropLast(last.count) + words])
            }
            let list = try await runInBox("authc list")
            #expect(list.status == 0 && list.out.contains("envelope"), "\(list)")
            #expect(!list.out.contains("app-template"), "\(list)")
            #expect(try await runInBox("authc status -s envelope").status == 0)
            for words in ["authc call users -s envelope", "authc token -s envelope"] {
                let refused = try await runInBox(words)
                #expect(refused.status == 77 && refused.out.isEmpty, "\(words): \(refused)")
            }
            let first = try await run("", "authc list")
            #expect(first.status == 0 && !first.out.contains("envelope"), "\(first)")
        }
    }
}

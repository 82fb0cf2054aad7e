import Foundation
import StandInBackends
import TestSupport
import Testing

/// The recipes for containers and Flatpaks, with real podman, Docker and flatpak. Root's run, because it mounts what
/// they look for.
@Suite("Recipes: the extra socket in a container", .timeLimit(.minutes(8)))
struct ContainerRecipeRootTests {
    private static func play(_ test: @escaping @Sendable (Scene, String) async throws -> Void) async throws {
        try await Scene.playExtra { scene in try await test(scene, try await system(in: scene)) }
    }

    /// A file system with a shell, as images and runtimes have one. `authc` is static, and needs nothing of it.
    private static func system(in scene: Scene) async throws -> String {
        let folder = try scene.desktop.folder.folder("system")
        let made = try await scene.shell(
            """
            cd \(folder) && mkdir -p bin etc programs/bin programs/libexec/authd-session
            cp /bin/busybox bin/ && for name in sh ls; do ln -s busybox bin/$name; done
            cp "$0" programs/bin/ && cp "$(dirname "$0")/authc-full" programs/libexec/authd-session/ && chmod -R a+rX .
            """)
        #expect(made.status == 0, "\(made)")
        return folder
    }

    /// Runs a line with podman in place of `IMAGE`'s registry, storage and limits: those of the test.
    private static func podman(_ line: String, _ scene: Scene) async throws -> Child.Output {
        let folder = scene.desktop.folder
        let containers = try folder.write(
            """
            [containers]
            cgroups = "disabled"
            default_ulimits = ["nofile=1000:1000", "nproc=1000:1000"]
            [engine]
            cgroup_manager = "cgroupfs"
            events_logger = "none"
            tmp_dir = "\(folder.path)/podman"
            """, to: "containers.conf")
        let storage = try folder.write(
            """
            [storage]
            driver = "vfs"
            graphroot = "\(folder.path)/images"
            runroot = "\(folder.path)/containers"
            """, to: "storage.conf")
        // crun refuses a machine that has both versions of cgroups.
        return try await scene.desktop.run([
            "unshare", "--mount", "env", "CONTAINERS_CONF=\(containers)", "CONTAINERS_STORAGE_CONF=\(storage)",
            "bash", "-c", "mount -t cgroup2 cgroup2 /sys/fs/cgroup && \(line)",
        ])
    }

    private static func expectLimited(
        authc: String = "/programs/bin/authc", _ run: (_ command: String) async throws -> Child.Output
    ) async throws {
        let list = try await run(authc + " list")
        #expect(list.status == 0 && list.out.contains("app-template"), "\(list)")
        #expect(!list.out.contains("envelope"), "\(list)")
        let users = try await run(authc + " call users")
        #expect(users.status == 0 && users.out.contains("ada@example.org"), "\(users)")
        let token = try await run(authc + " token")
        #expect(token.status == 77 && token.out.isEmpty, "\(token)")
    }

    @Test("in a podman container the mounted folder gives the listed session, and the main socket no more than that")
    func container() async throws {
        try await Self.play { scene, system in
            let recipe = try Recipes.block(with: "podman run").trimmingCharacters(in: .newlines)
            let end = "registry.example.org/build authc list"
            #expect(recipe.hasSuffix(end))
            let inside =
                String(recipe.dropLast(end.count)).replacing("-v /usr/", with: "-v \(system)/programs/")
                + "--network=none --rootfs \(system) "
            #expect(inside.matches(of: /\/programs\//).count == 2)
            // /usr/bin has nothing but what is mounted there.
            let authc = "/usr/bin/authc"
            try await Self.expectLimited(authc: authc) { try await Self.podman(inside + $0, scene) }
            let main = inside.replacing("authd-extra", with: "authd")
            try await Self.expectLimited(authc: authc) { try await Self.podman(main + $0, scene) }
            let run = "podman run "
            #expect(inside.hasPrefix(run))
            let stranger = try await Self.podman(
                run + "--user 1234:1234 " + inside.dropFirst(run.count) + authc + " list", scene)
            #expect(stranger.status == 69 && stranger.out.isEmpty, "\(stranger)")
            #expect(stranger.err.contains("no agent answers on /run/authd/socket"), "\(stranger)")
        }
    }

    /// Runs a line with Docker's own daemon, which has the storage of the test, and no network.
    private static func docker(_ line: String, _ system: String, _ scene: Scene) async throws -> Child.Output {
        let folder = try scene.desktop.folder.folder("docker")
        // The processes of the daemon end with their namespace.
        return try await scene.desktop.run(
            [
                "unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "bash", "-c",
                """
                set -e; export DOCKER_HOST=unix://\(folder)/socket PATH=/usr/sbin:$PATH
                group=authd-test-$(basename "${0%/docker}")
                dockerd --cgroup-parent=$group --iptables=false --ip6tables=false --bridge=none --storage-driver=vfs -H $DOCKER_HOST \
                    --data-root \(folder)/data --exec-root \(folder)/exec -p \(folder)/pid > \(folder)/log 2>&1 &
                until docker version > /dev/null 2>&1; do kill -0 $! || { cat \(folder)/log >&2; exit 99; }; done
                docker image inspect registry.example.org/build > /dev/null 2>&1 ||
                    tar -C \(system) -c bin etc | docker import - registry.example.org/build > /dev/null
                status=0; \(line) || status=$?
                kill $!; wait $! || true
                rmdir /sys/fs/cgroup/$group /sys/fs/cgroup/*/$group 2> /dev/null || true
                exit $status
                """, folder,
            ])
    }

    @Test("with Docker, the recipe and the user that its text names give the same, and other users nothing")
    func docker() async throws {
        try await Self.play { scene, system in
            let recipe = try Recipes.block(with: "podman run").trimmingCharacters(in: .newlines)
            let (start, end) = ("podman run ", "authc list")
            #expect(recipe.hasPrefix(start) && recipe.hasSuffix(end))
            let inside = recipe.dropFirst(start.count).dropLast(end.count)
                .replacing("-v /usr/", with: "-v \(system)/programs/").replacing("--rm", with: "--rm --network=none")
            let user = "--user \"$(id -u):$(id -g)\""
            let page = try SourceTree.text("Docs/recipes.md")
            #expect(page.contains("With Docker, add `\(user)`"))
            try await Self.expectLimited(authc: "authc") {
                try await Self.docker("docker run \(user) \(inside)\($0)", system, scene)
            }
            let stranger = try await Self.docker("docker run --user 1234:1234 \(inside)authc list", system, scene)
            #expect(stranger.status == 69 && stranger.out.isEmpty, "\(stranger)")
            #expect(stranger.err.contains("no agent answers on /run/authd/socket"), "\(stranger)")
        }
    }

    @Test("a dev container gets it by two lines of its devcontainer.json")
    func devContainer() async throws {
        try await Self.play { scene, system in
            let recipe = Data(try Recipes.block(with: "\"containerEnv\"").utf8)
            let file = try #require(try JSONSerialization.jsonObject(with: recipe) as? [String: Any])
            let mounts = try #require(file["mounts"] as? [String])
            let variables = try #require(file["containerEnv"] as? [String: String])
            // The options of docker and podman, which the tools for dev containers pass on.
            let runtime = scene.desktop.folder.path + "/run"
            let options =
                mounts.map { "--mount '\($0.replacing("${localEnv:XDG_RUNTIME_DIR}", with: runtime))'" }
                + variables.map { "-e \($0.key)=\($0.value)" }
            let inside = "podman run --rm \(options.joined(separator: " ")) --network=none --rootfs \(system) "
            try await Self.expectLimited { try await Self.podman(inside + $0, scene) }
        }
    }

    @Test("a Flatpak with the permission gets it, and the main socket gives no more than that")
    func flatpak() async throws {
        try await Self.play { scene, system in
            let folder = scene.desktop.folder.path
            let recipe = try Recipes.block(with: "flatpak override").trimmingCharacters(in: .newlines)
            #expect(recipe.hasSuffix(" org.example.App"))
            // A runtime and an app of our own, in a separate repository.
            let made = try await scene.shell(
                """
                set -e; cd \(folder); arch=$(flatpak --default-arch)
                export FLATPAK_SYSTEM_DIR=\(folder)/flatpak-system FLATPAK_USER_DIR=\(folder)/flatpak
                mkdir -p runtime/files app/files/bin app/export; cp -a system runtime/usr
                printf '[Runtime]\\nname=org.example.Platform\\nruntime=org.example.Platform/%s/1\\n' $arch >runtime/metadata
                printf '[Application]\\nname=org.example.App\\nruntime=org.example.Platform/%s/1\\n' $arch >app/metadata
                echo command=run >>app/metadata
                printf '#!/bin/sh\\nexec "$@"\\n' >app/files/bin/run; chmod +x app/files/bin/run
                flatpak build-export --disable-sandbox --runtime repository runtime 1
                flatpak build-export --disable-sandbox repository app 1
                flatpak --user remote-add --no-gpg-verify local \(folder)/repository
                flatpak --user install -y --noninteractive local org.example.Platform//1 org.example.App//1
                """)
            #expect(made.status == 0, "\(made)")
            /// The runtime folder is where Flatpaks have it. Below /tmp flatpak would not show it.
            func run(_ recipe: String, _ command: String) async throws -> Child.Output {
                try await scene.desktop.run([
                    "unshare", "--mount", "bash", "-c",
                    """
                    set -e; folder=/run/user/$(id -u)
                    mkdir -p /run/user && mount -t tmpfs tmpfs /run/user && mkdir -m 700 $folder
                    mount --bind "$XDG_RUNTIME_DIR" $folder; export XDG_RUNTIME_DIR=$folder
                    export FLATPAK_SYSTEM_DIR=\(folder)/flatpak-system FLATPAK_USER_DIR=\(folder)/flatpak
                    \(recipe)
                    exec flatpak --user run org.example.App \(command.replacing("/programs/", with: "/usr/programs/"))
                    """,
                ])
            }
            try await Self.expectLimited { try await run(recipe, $0) }
            let main = recipe.replacing("authd-extra", with: "authd")
            try await Self.expectLimited { try await run(main, $0) }
        }
    }
}

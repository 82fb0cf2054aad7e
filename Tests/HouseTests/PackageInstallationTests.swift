import Foundation
import Subprocess
import Testing

/// `Tests/install-packages` with programs of Debian that only report how they are called.
@Suite("The packages that tests need")
struct PackageInstallationTests {
    private static let programs = [
        "dpkg-query": """
        case $1 in
        -S) [ -e "$FOLDER/owner" ] && echo "a-package: ${2##*/}" ;;
        *) if [ "$4" = a-package ]; then cat "$FOLDER/owner"; else [ -e "$FOLDER/all-here" ] && echo installed; fi ;;
        esac
        """,
        "sudo": "exec env \"$@\"",
        // As the packages' own scripts do, it asks whether services may be started.
        "apt-get": """
        [[ " $* " == *' install '* ]] || exit 0
        find "$FOLDER/units" -type l -delete
        touch "$FOLDER"/units/system/{glewlwyd,ssh,docker-registry,dovecot}.service
        touch "$FOLDER"/units/system/podman-auto-update.timer "$FOLDER"/units/user/{gcr-ssh-agent.socket,waybar.service}
        if [ -p "$FOLDER/waits" ]; then
            read -r <"$FOLDER/waits"
            touch "$FOLDER/all-here"
        fi
        [ ! -e "$FOLDER/asked-to-end" ] || kill -TERM $PPID
        for service in ssh ssh.socket podman-auto-update.timer dovecot.service rsync; do
            ! "$POLICY_RC_D" "$service" start || echo "started $service"
        done
        [ ! -e "$FOLDER/killed" ] || { rm "$FOLDER/killed"; kill -KILL $PPID; }
        [ ! -e "$FOLDER/broken" ]
        """,
        "systemctl": """
        case $* in
        '--root=/ disable '*) echo "disabled $3" ;;
        '--root=/ --global disable '*) echo "disabled for users $4" ;;
        esac
        """,
    ]

    /// What a run reports that installs all packages.
    private static let disabled: [Substring] = [
        "disabled for users gcr-ssh-agent.socket", "disabled glewlwyd.service", "disabled podman-auto-update.timer",
        "disabled ssh.service", "disabled for users waybar.service", "disabled docker-registry.service",
        "disabled dovecot.service",
    ]

    /// The same, after the name of what it installs. Only the service of another package is started.
    private static let refused: [Substring] = ["started rsync"] + disabled

    /// Runs it after `prepare`, and says afterwards whether there is a policy and which units there are.
    private func install(_ prepare: String = "") async throws -> (status: TerminationStatus, lines: [Substring]) {
        let folder = FileManager.default.temporaryDirectory.appending(path: "authd-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(
            at: folder.appending(path: "units/system"), withIntermediateDirectories: true)
        try FileManager.default.createDirectory(
            at: folder.appending(path: "units/user"), withIntermediateDirectories: true)
        for (name, script) in Self.programs {
            let file = folder.path + "/" + name
            try ("#!/bin/bash\n" + script + "\n").write(toFile: file, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file)
        }
        let result = try await run(
            .name("bash"),
            arguments: [
                "-c",
                """
                export FOLDER=$0 PATH=$0:$PATH POLICY_RC_D=$0/policy UNIT_FOLDERS=$0/units
                \(prepare)
                "$1/Tests/install-packages"
                code=$?
                exec 2>/dev/null
                wait
                [ ! -e "$FOLDER/first" ] || cat "$FOLDER/first"
                [ ! -e "$POLICY_RC_D" ] || cat "$POLICY_RC_D"
                exit $code
                """, folder.path, ProjectFiles.root.path,
            ], output: .string(limit: 1 << 16), error: .discarded)
        return (result.terminationStatus, result.standardOutput.split(separator: "\n"))
    }

    @Test("a service that comes with a package is not started, and is disabled afterwards; others are left alone")
    func services() async throws {
        let (status, lines) = try await install()
        #expect(status == .exited(0))
        #expect(lines.first?.hasPrefix("Installing: ") == true && lines.first?.contains(" openssh-server ") == true)
        #expect(lines.filter { $0.hasPrefix("started ") } == ["started rsync"])
        #expect(lines.filter { $0.hasPrefix("disabled ") } == Self.disabled)
        // Its policy is gone.
        #expect(lines.count == 2 + Self.disabled.count, "\(lines)")
    }

    @Test("a service that was there before is left alone, unless its package was not installed completely")
    func former() async throws {
        let unit = "touch \"$FOLDER/units/system/dovecot.service\"; "
        for prepare in [unit, unit + "echo installed >\"$FOLDER/owner\""] {
            let (status, lines) = try await install(prepare)
            #expect(status == .exited(0))
            #expect(
                lines.dropFirst() == ["started dovecot.service", "started rsync"] + Self.disabled.dropLast(),
                "\(lines)")
        }
        for prepare in [
            unit + "echo unpacked >\"$FOLDER/owner\"", "ln -s /dev/null \"$FOLDER/units/system/dovecot.service\"",
        ] {
            let (status, lines) = try await install(prepare)
            #expect(status == .exited(0))
            #expect(lines.dropFirst() == Self.refused[...], "\(lines)")
        }
    }

    @Test("a unit of each user's systemd that was there before is left alone")
    func formerUserUnit() async throws {
        let (status, lines) = try await install("touch \"$FOLDER/units/user/waybar.service\"")
        #expect(status == .exited(0))
        #expect(lines.dropFirst() == Self.refused.filter { !$0.contains("waybar") }[...], "\(lines)")
    }

    @Test("an unknown option in the list is an error, and nothing is installed")
    func unknownOption() async throws {
        let (status, lines) = try await install(
            """
            echo 'a-package sevice=a' >"$FOLDER/list"
            "$1/Tests/install-packages" "$FOLDER/list"
            exit
            """)
        #expect(status == .exited(1) && lines.isEmpty, "\(lines)")
    }

    @Test("an installation that fails disables the services and leaves no policy behind; the administrator's own stays")
    func policy() async throws {
        let failed = try await install("touch \"$FOLDER/broken\"")
        #expect(failed.status == .exited(1))
        #expect(failed.lines.dropFirst() == Self.refused[...], "\(failed.lines)")
        let own = try await install("printf '#!/bin/sh\\nexit 101\\n' >\"$POLICY_RC_D\"; chmod +x \"$POLICY_RC_D\"")
        #expect(own.status == .exited(0) && own.lines.suffix(2) == ["#!/bin/sh", "exit 101"], "\(own.lines)")
    }

    @Test(
        "a policy whose script was killed refuses nothing, and the next run disables its services",
        arguments: [true, false])
    func killed(isComplete: Bool) async throws {
        let (status, lines) = try await install(
            """
            touch "$FOLDER/killed"
            "$1/Tests/install-packages" >/dev/null
            "$POLICY_RC_D" ssh start && echo allowed
            \(isComplete ? "touch \"$FOLDER/all-here\"" : "")
            """)
        #expect(status == .exited(0) && lines.first == "allowed", "\(lines)")
        let disabled = Self.disabled
        #expect(lines.suffix(disabled.count) == disabled[...], "\(lines)")
        #expect(lines.count == disabled.count + (isComplete ? 1 : 3), "\(lines)")
    }

    @Test("a script that is asked to end does so after apt-get, and disables the services")
    func ended() async throws {
        let (status, lines) = try await install("touch \"$FOLDER/asked-to-end\"")
        #expect(status == .exited(130))
        #expect(lines.dropFirst() == Self.refused[...], "\(lines)")
    }

    @Test("of two runs at once, the second begins when the first has ended")
    func twice() async throws {
        // The first run's apt-get waits until the second run says that it waits.
        let (status, lines) = try await install(
            """
            mkfifo "$FOLDER/waits"
            "$1/Tests/install-packages" >"$FOLDER/first" &
            exec 2>"$FOLDER/waits"
            """)
        #expect(status == .exited(0))
        #expect(lines.count == 2 + Self.disabled.count && lines.last == Self.disabled.last, "\(lines)")
    }

    @Test("if every package is installed, nothing is called")
    func nothing() async throws {
        let (status, lines) = try await install("touch \"$FOLDER/all-here\"")
        #expect(status == .exited(0) && lines.isEmpty, "\(lines)")
    }
}

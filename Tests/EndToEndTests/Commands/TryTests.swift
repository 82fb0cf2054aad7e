import Foundation
import TestSupport
import Testing

/// `authc try`, with its own agent and provider, as a new user runs it.
@Suite("authc try", .serialized, .timeLimit(.minutes(4)))
struct TryTests {
    /// A home without anything, and a folder for temporary files.
    struct Place {
        let folder: TemporaryFolder
        let environment: [String: String]
        /// The name of the folder for temporary files.
        private let temporary: String

        init(_ more: [String: String] = [:], temporary: String = "tmp") throws {
            folder = try TemporaryFolder(syncs: false)
            self.temporary = temporary
            environment = [
                "HOME": try folder.folder("home"), "XDG_RUNTIME_DIR": try folder.folder("run"),
                "TMPDIR": try folder.folder(temporary), "LANG": "C.UTF-8", "http_proxy": "http://127.0.0.1:9",
                "AUTHD_SOCKET": folder.path + "/run/nowhere", "AUTHD_SESSION": "nobody",
                "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
            ].merging(more) { $1 }
        }

        /// What is below a folder of the user.
        func entries(_ name: String) throws -> [String] {
            try FileManager.default.subpathsOfDirectory(atPath: folder.path + "/" + name)
        }

        func expectNothingLeft() throws {
            for name in ["home", "run", temporary] { #expect(try entries(name) == [], "\(name)") }
        }
    }

    /// The processes of a session of processes, except for those that only have to be waited for (proc_pid_stat(5)).
    static func processes(inSession session: pid_t) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { pid_t($0) != nil }.compactMap { number in
            guard let line = try? String(contentsOfFile: "/proc/\(number)/stat", encoding: .utf8),
                let end = line.lastIndex(of: ")")
            else { return nil }
            let fields = line[end...].split(separator: " ")
            return fields.count > 4 && fields[1] != "Z" && fields[4] == "\(session)" ? line : nil
        }
    }

    static let steps = [
        "$ authd --store sealed-file", "$ authc login demo --field email=ada@example.org --password-stdin < password",
        "signed in as ada@example.org", "$ authc token", "demo-token-1",
        "$ for i in 1 2 3 4 5; do authc token --min-valid 10s & done; wait",
        "5 × demo-token-2: the provider was asked once",
        "$ authc call me", #""email":"ada@example.org""#, "# The provider cannot be reached any more.",
        "[exit status 75]", "demo-token-2: still valid, and the session is kept", "$ authc refresh", "renewed",
        "$ authc logout", "signed out, at the provider too", "and everything was removed.",
        "Sign in for real: `authc login`.",
    ]

    @Test("shows the main job in 25 lines of 80 columns, and leaves nothing behind")
    func whole() async throws {
        let place = try Place()
        let output = try await Child([Programs.authc, "try"], environment: place.environment).output()
        #expect(output.status == 0 && output.err.isEmpty, "\(output.out)\(output.err)")
        let lines = output.out.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        // A folder for temporary files with a long path takes a line more.
        let most = place.folder.path.count > 30 ? 26 : 25
        #expect(lines.count <= most && lines.allSatisfy { $0.count <= 80 }, "\(output.out)")
        var rest = output.out[...]
        for step in Self.steps {
            let place = try #require(rest.firstRange(of: step), "\(step) is missing in \(output.out)")
            rest = rest[place.upperBound...]
        }
        try place.expectNothingLeft()
    }

    @Test(
        "shows these texts on terminals of 80 and 40 columns",
        arguments: [
            (80, ["NO_COLOR": "1", "LANG": "C"]), (40, ["NO_COLOR": "1", "LANG": "C"]), (40, ["LANG": "C.UTF-8"]),
            (40, ["LANG": "C"]),
        ])
    func terminals(columns: Int, variables: [String: String]) async throws {
        let place = try Place(variables)
        let terminal = try await Terminal(
            "authc try; echo end $?", columns: UInt16(columns), environment: place.environment)
        await terminal.waits(for: "\nend ")
        await terminal.ends()
        #expect(terminal.text.contains("\nend 0"), "\(terminal.text)")
        let plain = terminal.text.replacing(/\u{1B}\[[0-9;]*m/, with: "")
        if variables["NO_COLOR"] != nil { #expect(plain == terminal.text) }
        if variables["LANG"] == "C" { #expect(plain.utf8.allSatisfy { $0 < 0x80 }, "\(plain)") }
        for line in plain.split(whereSeparator: \.isNewline) where line.count > columns {
            // A path is not broken.
            #expect(line.hasPrefix("  /") && !line.dropFirst(2).contains(" "), "\(line)")
        }
        // Lines that go on can be copied as they are.
        let whole = plain.replacing(" \\\r\n   ", with: "")
        #expect(whole.contains("$ authc login demo --field email=ada@example.org --password-stdin < password\r\n"))
        // The path and the time differ from run to run.
        let text = plain.replacing("\r\n", with: "\n").replacing("×", with: "x")
            .replacing(/sealed files in\s+\/\S+/, with: "sealed files in FOLDER").replacing(
                /in \d+ s,/, with: "in N s,")
        #expect(text == (columns == 80 ? Self.wide : Self.narrow) + "\nend 0\n", "\(text)")
        try place.expectNothingLeft()
    }

    private static let wide = #"""
        It uses a separate agent and provider; your own are not used. ^C ends it.

        $ authd --store sealed-file
          runs, with sealed files in FOLDER
        $ authc login demo --field email=ada@example.org --password-stdin < password
          signed in as ada@example.org
        $ authc token
          demo-token-1
        $ for i in 1 2 3 4 5; do authc token --min-valid 10s & done; wait
          5 x demo-token-2: the provider was asked once
        $ authc call me
          {"id":"1","email":"ada@example.org","name":"Ada"}
        # The provider cannot be reached any more.
        $ authc refresh
          authc: 127.0.0.1 refuses connections. Check the address; the server may be
          down. [exit status 75]
        $ authc token
          demo-token-2: still valid, and the session is kept
        # The provider is back.
        $ authc refresh
          renewed
        $ authc logout
          signed out, at the provider too

        It worked, in N s, and everything was removed. Sign in for real: `authc login`.
        """#

    private static let narrow = #"""
        It uses a separate agent and provider;
        your own are not used. ^C ends it.

        $ authd --store sealed-file
          runs, with sealed files in FOLDER
        $ authc login demo --field \
            email=ada@example.org \
            --password-stdin < password
          signed in as ada@example.org
        $ authc token
          demo-token-1
        $ for i in 1 2 3 4 5; do authc token \
            --min-valid 10s & done; wait
          5 x demo-token-2: the provider was
          asked once
        $ authc call me
          {"id":"1","email":"ada@example.org","n
          ame":"Ada"}
        # The provider cannot be reached any
        # more.
        $ authc refresh
          authc: 127.0.0.1 refuses connections.
          Check the address; the server may be
          down. [exit status 75]
        $ authc token
          demo-token-2: still valid, and the
          session is kept
        # The provider is back.
        $ authc refresh
          renewed
        $ authc logout
          signed out, at the provider too

        It worked, in N s, and everything was
        removed. Sign in for real:
        `authc login`.
        """#

    @Test(
        "^C ends everything at any moment",
        arguments: [
            "own", "$ authd", "runs, with", "signed in", "$ for i", "$ authc call", "# The provider", "$ authc logout",
        ])
    func interrupted(moment: String) async throws {
        let place = try Place()
        let terminal = try await Terminal(
            "echo session $$; echo own; authc try", environment: place.environment)
        await terminal.waits(for: moment)
        terminal.type("\u{3}")
        await terminal.ends()
        // The last command may have ended before the key arrives.
        if moment != "$ authc logout" { #expect(!terminal.text.contains("It worked")) }
        let session = try #require(terminal.text.firstMatch(of: /session (\d+)/)?.1)
        let number = try #require(pid_t(session))
        // The shell may have ended first.
        let haveEnded = try await until {
            _ = try await Child(["true"], environment: place.environment).output()
            return try Self.processes(inSession: number).isEmpty
        }
        #expect(haveEnded)
        try place.expectNothingLeft()
    }

    @Test("a closed terminal ends it, and so does a reader that has seen enough")
    func unread() async throws {
        let place = try Place()
        let terminal = try await Terminal("authc try", environment: place.environment)
        await terminal.waits(for: "signed in")
        terminal.hangUp()
        await terminal.ends()
        // The shell has ended first.
        let isRemoved = try await until {
            _ = try await Child(["true"], environment: place.environment).output()
            // A folder may be removed while it is read.
            return (try? place.entries("tmp"))?.isEmpty == true
        }
        #expect(isRemoved)
        try place.expectNothingLeft()
        let line = "\"$0\" try | head -n 4; echo ${PIPESTATUS[0]}"
        let head = try await Child(["bash", "-c", line, Programs.authc], environment: place.environment).output()
        #expect(head.out.hasSuffix("\n141\n"), "\(head)")
        try place.expectNothingLeft()
    }

    @Test("quotation marks and backslashes in $TMPDIR are no problem")
    func quotedFolder() async throws {
        let place = try Place(temporary: #"a "b" \n 'c'"#)
        let output = try await Child([Programs.authc, "try"], environment: place.environment).output()
        #expect(output.status == 0 && output.err.isEmpty, "\(output.out)\(output.err)")
        try place.expectNothingLeft()
    }

    @Test("if it was started to ignore ^C, its children do not receive it either")
    func ignored() async throws {
        let place = try Place()
        let terminal = try await Terminal("trap '' INT; authc try; echo end $?", environment: place.environment)
        for moment in ["runs, with", "signed in", "$ for i"] {
            await terminal.waits(for: moment)
            terminal.type("\u{3}")
        }
        await terminal.waits(for: "\nend ")
        await terminal.ends()
        #expect(terminal.text.contains("It worked") && terminal.text.contains("\nend 0"), "\(terminal.text)")
        try place.expectNothingLeft()
    }

    @Test("an open keyring on the session bus stays as it was")
    func openKeyring() async throws {
        let desktop = try await Desktop()
        let keyring = try await desktop.startKeyring()
        let stored = try await desktop.run(
            ["secret-tool", "store", "--label=mail", "application", "mail"], input: "another program's")
        #expect(stored.status == 0, "\(stored)")
        /// The paths of all items, and when something was changed.
        func content() async throws -> String {
            let read = try await desktop.run([
                "gdbus", "call", "--session", "--dest", "org.freedesktop.secrets", "--object-path",
                "/org/freedesktop/secrets/collection/login", "--method", "org.freedesktop.DBus.Properties.GetAll",
                "org.freedesktop.Secret.Collection",
            ])
            #expect(read.status == 0 && read.out.contains("collection/login/1"), "\(read)")
            return read.out
        }
        let before = try await content()
        let place = try Place(["DBUS_SESSION_BUS_ADDRESS": desktop.environment["DBUS_SESSION_BUS_ADDRESS"] ?? ""])
        let output = try await Child([Programs.authc, "try"], environment: place.environment).output()
        #expect(output.status == 0, "\(output.out)\(output.err)")
        #expect(try await content() == before)
        #expect(try await desktop.keyringItems() == [])
        try place.expectNothingLeft()
        await keyring.end()
        await desktop.end()
    }

    @Test("a keyring that the session bus could start is not started")
    func startableKeyring() async throws {
        let place = try Place()
        let path = place.folder.path
        let keyring = try place.folder.write("#!/bin/sh\necho started >'\(path)/started'\nexit 1\n", to: "keyring")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: keyring)
        let service = "[D-BUS Service]\nName=org.freedesktop.secrets\nExec=\(keyring)\n"
        _ = try place.folder.write(service, to: "services/org.freedesktop.secrets.service")
        let configuration = """
            <busconfig>
              <type>session</type>
              <listen>unix:path=\(path)/bus</listen>
              <servicedir>\(path)/services</servicedir>
              <policy context="default">
                <allow send_destination="*" eavesdrop="true"/>
                <allow eavesdrop="true"/>
                <allow own="*"/>
              </policy>
            </busconfig>
            """
        let file = try place.folder.write(configuration, to: "bus.conf")
        // Any call to a keyring starts it, as the last command shows.
        let line = #""$0" try && test ! -e "$1" && ! secret-tool search application authd && cat "$1""#
        let output = try await Child(
            ["dbus-run-session", "--config-file=\(file)", "--", "bash", "-c", line, Programs.authc, path + "/started"],
            environment: place.environment
        ).output()
        #expect(output.status == 0 && output.out.hasSuffix("started\n"), "\(output)")
        try place.expectNothingLeft()
    }

    @Test("a folder that cannot be removed is emptied, and reported with its path")
    func notRemoved() async throws {
        let place = try Place()
        let folder = place.folder.path + "/tmp"
        // Root may remove it, except without its capabilities.
        let prefix = getuid() == 0 ? ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--"] : []
        let trial = try await Child(prefix + [Programs.authc, "try"], environment: place.environment)
        #expect(await trial.out.wait(for: "signed in"))
        #expect(chmod(folder, 0o500) == 0)
        #expect(await trial.ended() == 70)
        #expect(chmod(folder, 0o700) == 0)
        #expect(try place.entries("tmp").count == 1)
        let output = await trial.output()
        let left = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first)
        #expect(output.err.contains("cannot remove \(folder)/\(left)"), "\(output)")
        #expect(!output.out.contains("It worked"), "\(output)")
    }

    @Test("if it is killed, its agent and its provider end too")
    func killed() async throws {
        let place = try Place()
        let trial = try await Child(["setsid", Programs.authc, "try"], environment: place.environment)
        #expect(await trial.out.wait(for: "signed in"))
        #expect(try Self.processes(inSession: trial.pid).count >= 3)
        await trial.end(SIGKILL)
        let haveEnded = try await until {
            _ = try await Child(["true"], environment: place.environment).output()
            return try Self.processes(inSession: trial.pid).isEmpty
        }
        #expect(haveEnded)
    }

    @Test("the end of its provider is reported")
    func endedProvider() async throws {
        let place = try Place()
        let trial = try await Child(["setsid", Programs.authc, "try"], environment: place.environment)
        // The next two steps work without a provider.
        #expect(await trial.out.wait(for: "# The provider cannot be reached"))
        let line = try #require(try Self.processes(inSession: trial.pid).first { $0.contains("(authd-gateway)") })
        let provider = try #require(line.split(separator: " ").first.flatMap { pid_t($0) })
        #expect(kill(provider, SIGKILL) == 0)
        #expect(await trial.ended() == 70)
        let output = await trial.output()
        #expect(output.err.contains("authd-gateway has ended"), "\(output)")
        try place.expectNothingLeft()
    }

    @Test("it asks nothing, so it works without input, and has no arguments")
    func arguments() async throws {
        let place = try Place()
        let refused = try await Child([Programs.authc, "try", "now"], environment: place.environment).output()
        #expect(refused.status == 64, "\(refused)")
        try place.expectNothingLeft()
    }
}

@Suite("authc try without a network, and without room on the disk", .timeLimit(.minutes(1)))
struct TryRootTests {
    @Test("needs nothing but the loopback interface")
    func offline() async throws {
        let place = try TryTests.Place()
        let line = "ip link set lo up && exec \"$0\" try"
        let output = try await Child(
            ["unshare", "--net", "sh", "-c", line, Programs.authc], environment: place.environment
        ).output()
        #expect(output.status == 0, "\(output.out)\(output.err)")
        try place.expectNothingLeft()
    }

    @Test("a full disk is named, and is not wrong usage")
    func fullDisk() async throws {
        let place = try TryTests.Place()
        let line = "mount -t tmpfs -o size=4k tmpfs \"$TMPDIR\" && exec \"$0\" try"
        let output = try await Child(
            ["unshare", "--mount", "sh", "-c", line, Programs.authc], environment: place.environment
        ).output()
        #expect(output.status == 70 && output.err.contains("the disk is full"), "\(output.out)\(output.err)")
        try place.expectNothingLeft()
    }
}

import Foundation
import StandInBackends
import TestSupport
import Testing

@Suite("The units, under a real user manager", .serialized, .timeLimit(.minutes(5)))
struct UnitTests {
    @Test("the first bytes of a client start authd, and the manager shows its status")
    func activation() async throws {
        try await BootedMachine.play { machine in
            #expect(try await machine.service("ActiveState") == "inactive")
            #expect(try await machine.person("stat", "-c", "%a %U", "/run/user/1000/authd") == "700 ada\n")
            #expect(try await machine.person("stat", "-c", "%a %U", "/run/user/1000/authd/socket") == "600 ada\n")
            #expect(try await machine.authc("status").status == 3)
            try await machine.isActive()
            #expect(try await machine.service("StatusText").contains("nobody signed in"))
            try await machine.signIn()
            #expect(
                try await until {
                    try await machine.person("cat", "/run/user/1000/authd/prompt").contains("app-template")
                })
            #expect(try await until { try await machine.service("StatusText").contains("app-template") })
            // Another user of the machine, root too, gets a message that this is not theirs.
            let root = try await machine.asRoot(
                "/usr/lib/authd-built/authc", "token", "--socket", "/run/user/1000/authd/socket")
            #expect(root.status == 77, "\(root.err)")
        }
    }

    @Test("a call to org.authd on the session bus starts authd")
    func busActivation() async throws {
        try await BootedMachine.play { machine in
            try await machine.write(
                SourceTree.text("Sources/Packaging/dbus/org.authd.service"),
                to: ".local/share/dbus-1/services/org.authd.service")
            let bus = "org.freedesktop.DBus"
            try await machine.person("busctl", "--user", "call", bus, "/org/freedesktop/DBus", bus, "ReloadConfig")
            #expect(try await machine.service("ActiveState") == "inactive")
            let version = try await machine.person(
                "busctl", "--user", "get-property", "org.authd", "/org/authd", "org.authd.Agent1", "Version")
            #expect(version.hasPrefix("s \""))
            try await machine.isActive()
        }
    }

    @Test("authd that is killed, or hangs, is restarted and serves the session without a sign-in")
    func restarts() async throws {
        try await BootedMachine.play { machine in
            try await machine.write(
                "[Service]\nWatchdogSec=2s\nTimeoutAbortSec=1s\n", to: ".config/systemd/user/authd.service.d/soon.conf")
            try await machine.person("systemctl", "--user", "daemon-reload")
            try await machine.signIn()
            let token = try await machine.authc("token").out
            let calls = machine.backends.counts[.appTemplate, "POST /auth/login"]
            for (number, signal) in ["KILL", "SEGV", "STOP"].enumerated() {
                try await machine.person("systemctl", "--user", "kill", "--signal", signal, "authd.service")
                // One that hangs is noticed when the watchdog's two seconds are over.
                #expect(try await machine.journal(until: "restart counter is at \(number + 1)") != nil)
                #expect(try await machine.authc("token").out == token)
            }
            #expect(machine.backends.counts[.appTemplate, "POST /auth/login"] == calls)
        }
    }

    @Test("a restart serves the token at once with the keyring locked; a stop and a sign-out leave nothing")
    func restartWhileLocked() async throws {
        try await BootedMachine.play { machine in
            try await machine.signIn()
            let token = try await machine.authc("token").out
            let pid = try await machine.service("MainPID")
            #expect(try await machine.service("NFileDescriptorStore") != "0")
            try await machine.lockKeyring()
            try await machine.person("systemctl", "--user", "restart", "authd.service")
            #expect(try await machine.authc("token").out == token)
            #expect(try await machine.service("MainPID") != pid)
            try await machine.person("systemctl", "--user", "stop", "authd.service")
            #expect(try await machine.authc("token").status == 4)

            try await machine.unlockKeyring()
            #expect(try await machine.authc("wait", "-s", "app-template", "--timeout", "60s").status == 0)
            #expect(try await machine.authc("token").out == token)
            #expect(try await machine.authc("logout").status == 0)
            #expect(try await machine.service("NFileDescriptorStore") == "0")
        }
    }

    @Test("reload applies new settings, invalid ones end the start finally, and stop keeps the socket active")
    func reloadAndStop() async throws {
        try await BootedMachine.play { machine in
            #expect(try await machine.authc("status").status == 3)
            let pid = try await machine.service("MainPID")
            try await machine.write("log_level = \"debug\"\n", to: ".config/authd/authd.toml")
            try await machine.person("systemctl", "--user", "reload", "authd.service")
            #expect(try await machine.journal(until: "log level") != nil)
            #expect(try await machine.service("MainPID") == pid)
            try await machine.person("systemctl", "--user", "stop", "authd.service")
            #expect(try await machine.service("Result") == "success")
            #expect(try await machine.authc("status").status == 3)
            #expect(try await machine.service("MainPID") != pid)

            // A reload of broken settings fails, and the one that runs goes on with what it has.
            let running = try await machine.service("MainPID")
            try await machine.write("store = \"foo\"\n", to: ".config/authd/authd.toml")
            let reload = try await machine.asPerson(["systemctl", "--user", "reload", "authd.service"])
            #expect(reload.status != 0)
            #expect(try await machine.journal(until: "authd.toml:1: store") != nil)
            #expect(try await machine.service("MainPID") == running)
            try await machine.write("log_level = \"info\"\n", to: ".config/authd/authd.toml")
            try await machine.person("systemctl", "--user", "reload", "authd.service")

            try await machine.person("systemctl", "--user", "stop", "authd.service")
            try await machine.write("log_level = 7\n", to: ".config/authd/authd.toml")
            let start = try await machine.asPerson(["systemctl", "--user", "start", "authd.service"])
            #expect(start.status != 0)
            #expect(try await machine.service("ExecMainStatus") == "78")
            #expect(try await machine.service("NRestarts") == "0")
            #expect(try await machine.journal(until: "authd.toml:1: log_level") != nil)
            let explained = try await machine.asRoot("journalctl", "-o", "cat", try Self.brokenSettingsID())
            #expect(explained.out.contains("authd.toml:1: log_level"), "\(explained.out)\(explained.err)")

            // As Docs/install.md says.
            let install = #"mkdir -p "$0" && cat >"$0/authd.catalog" && journalctl --update-catalog"#
            let installed = try await machine.start(
                ["sh", "-c", install, "/usr/local/lib/systemd/catalog"], input: Self.catalog()
            ).output()
            #expect(installed.status == 0, "\(installed)")
            let journal = try await machine.asRoot("journalctl", "-x", try Self.brokenSettingsID()).out
            let message = try #require(journal.firstRange(of: "authd.toml:1: log_level"), "\(journal)")
            for line in [
                " Subject: authd did not start because of its settings\n", " Documentation: man:authd.toml(5)\n",
                " To check the settings: authd --check\n",
            ] {
                #expect(journal[message.upperBound...].contains(line), "\(line): \(journal)")
            }
        }
    }

    private static func catalog() throws -> String {
        try SourceTree.text("systemd/authd.catalog")
    }

    /// How `journalctl` selects the message that the catalog explains.
    private static func brokenSettingsID() throws -> String {
        let entry = try #require(catalog().firstMatch(of: /-- ([0-9a-f]{32})\nSubject: authd did not start/))
        return "MESSAGE_ID=\(entry.1)"
    }

    @Test("broken settings end each start, but not the socket: once they are fixed, the next call works")
    func brokenSettings() async throws {
        try await BootedMachine.play { machine in
            let settings = ".config/authd/authd.toml"
            let good = try await machine.person("cat", "/people/ada/" + settings)
            try await machine.write("store = \"foo\"\n", to: settings)
            // More starts than systemd's own limits allow, each with its error and what to do.
            for _ in 1...25 {
                let broken = try await machine.authc("status")
                #expect(broken.status == 69, "\(broken.err)")
                #expect(broken.err.contains("`authd --check`"))
            }
            let check = try await machine.asPerson(["/usr/lib/authd-built/authd", "--check"])
            #expect(check.status == 78 && check.out.contains("authd.toml:1: store"), "\(check.out)")
            #expect(try await machine.service("Result") == "exit-code")
            #expect(try await machine.person("systemctl", "--user", "is-active", "authd.socket") == "active\n")

            try await machine.write(good, to: settings)
            #expect(try await machine.authc("status").status == 3)
            try await machine.isActive()

            // The same for the command that is named where nobody listens.
            try await machine.person("systemctl", "--user", "stop", "authd.socket", "authd.service")
            try await machine.write("store = \"foo\"\n", to: settings)
            let nobody = try await machine.authc("status")
            #expect(
                nobody.status == 69 && nobody.err.contains("`systemctl --user start authd.socket`"), "\(nobody.err)")
            try await machine.person("systemctl", "--user", "start", "authd.socket")
            #expect(try await machine.authc("status").status == 69)
            try await machine.write(good, to: settings)
            try await machine.person("systemctl", "--user", "start", "authd.socket")
            #expect(try await machine.authc("status").status == 3)
        }
    }

    @Test(
        "the extra socket is opened by its unit after a stop, or by a reload; its clients get what the settings list")
    func extraSocket() async throws {
        let extra = "/run/user/1000/authd-extra/socket"
        try await BootedMachine.play { machine in
            let settings = ".config/authd/authd.toml"
            let former = try await machine.person("cat", "/people/ada/" + settings)
            try await machine.signIn()
            let token = try await machine.authc("token").out
            // By the unit. systemd starts no socket whose service runs.
            try await machine.person("systemctl", "--user", "enable", "authd-extra.socket")
            let busy = try await machine.asPerson(["systemctl", "--user", "start", "authd-extra.socket"])
            #expect(busy.status != 0)
            let recipes = try BootedMachine.blocks(of: "Docs/recipes.md", "sh")
            let extraUnit = try #require(recipes.first { $0.contains("systemctl --user enable authd-extra.socket") })
            try await machine.person("bash", "-euc", extraUnit)
            #expect(try await machine.authc("token").out == token)
            #expect(try await machine.person("stat", "-c", "%a", extra, "/run/user/1000/authd-extra") == "600\n700\n")
            #expect(try await machine.authc("status", "--socket", extra).status == 77)
            let rules = "\n[listener.extra]\nsessions = [\"app-template\"]\nclasses = [\"status\"]\n"
            try await machine.write(former + rules, to: settings)
            let reload = try #require(recipes.first { $0.contains("authc reload") })
            try await machine.person("bash", "-euc", reload.replacing("authc ", with: machine.command + " "))
            #expect(try await machine.journal(until: "[listener.extra] is different") != nil)
            #expect(try await machine.authc("status", "--socket", extra).status == 0)
            #expect(try await machine.authc("token", "--socket", extra).status == 77)
            // A client of it starts authd.
            try await machine.person("systemctl", "--user", "stop", "authd.service")
            #expect(try await machine.authc("status", "--socket", extra).status == 0)

            // By authd, without the unit.
            try await machine.person("systemctl", "--user", "disable", "--now", "authd-extra.socket")
            try await machine.person("systemctl", "--user", "restart", "authd.service")
            try await machine.write(former + rules + "listen = true\n", to: settings)
            try await machine.person("systemctl", "--user", "reload", "authd.service")
            // systemd leaves the file of its socket there, so the first clients may be refused.
            let opened = "until \(machine.command) status --socket \(extra) >&/dev/null; do :; done"
            try await machine.person("timeout", "60", "bash", "-c", opened)
        }
    }

    @Test("the first request to the socket of a proxy starts the proxy, which starts authd")
    func proxy() async throws {
        try await BootedMachine.play { machine in
            try await machine.signIn()
            let path = "/run/user/1000/authd-proxy/app-template"
            try await machine.person("systemctl", "--user", "enable", "--now", "authd-proxy@app-template.socket")
            #expect(try await machine.person("stat", "-c", "%a", path, "/run/user/1000/authd-proxy") == "600\n700\n")
            try await machine.person("systemctl", "--user", "stop", "authd.service")
            let url = "http://localhost/users?page=1&limit=1"
            let request = ["curl", "--silent", "--write-out", " %{http_code}", "--unix-socket", path, url]
            let reply = try await machine.asPerson(request)
            #expect(reply.out.hasSuffix(" 200"), "\(reply.out)\(reply.err)")
            try await machine.isActive()
            // It ends as systemd expects, and the next request starts it again.
            let unit = "authd-proxy@app-template.service"
            try await machine.person("systemctl", "--user", "stop", unit)
            #expect(try await machine.unit(unit, "Result") == "success")
            #expect(try await machine.asPerson(request).out.hasSuffix(" 200"))
        }
    }

    @Test("a unit of the user with PrivateUsers= is in a sandbox, and other units are not")
    func confinedUnit() async throws {
        try await BootedMachine.play { machine in
            try await machine.signIn()
            func token(_ options: String...) async throws -> Child.Output {
                try await machine.asPerson(
                    ["systemd-run", "--user", "--wait", "--pipe", "--quiet"] + options
                        + ["/usr/lib/authd-built/authc", "token"])
            }
            let plain = try await token()
            #expect(plain.status == 0 && !plain.out.isEmpty, "\(plain)")
            let confined = try await token("-p", "PrivateUsers=yes")
            #expect(confined.status == 77 && confined.out.isEmpty, "\(confined)")
            #expect(confined.err.contains("user namespace"), "\(confined)")
        }
    }

    @Test("the unit limits authd's resources")
    func bounds() async throws {
        try await BootedMachine.play { machine in
            let status = try await machine.authc("status")
            #expect(status.status == 3)
            for (property, value) in [
                ("MemoryMax", "1073741824"), ("TasksMax", "512"), ("LimitNOFILE", "16384"),
                ("StartLimitIntervalUSec", "0"),
            ] {
                let set = try await machine.service(property)
                #expect(set == value, "\(property)")
            }
        }
    }

    @Test("a service of the recipes starts when its session is active, and a timer starts it again")
    func waitingService() async throws {
        try await BootedMachine.play { machine in
            let units = try BootedMachine.blocks(of: "Docs/recipes.md", "ini").map {
                $0.replacing("work", with: "app-template")
            }
            let service = try #require(units.first { $0.contains("report.service") })
            let timer = try #require(units.first { $0.contains("report.timer") })
            // The journal may not attribute the output of a program that has ended.
            try await machine.write(
                service + "StandardOutput=append:%h/report\n", to: ".config/systemd/user/report.service")
            try await machine.write(
                timer.replacing("OnCalendar=daily", with: "OnActiveSec=0\nAccuracySec=1us"),
                to: ".config/systemd/user/report.timer")
            try await machine.person("systemctl", "--user", "daemon-reload")
            try await machine.person("systemctl", "--user", "start", "--no-block", "report.service")
            // authc's request starts authd.
            let started = "until systemctl --user is-active -q authd.service; do :; done"
            let jobs = try await machine.person("bash", "-c", "\(started); systemctl --user list-jobs")
            #expect(jobs.contains(/report\.service +start +waiting/), "\(jobs)")
            #expect(jobs.contains(/authc-wait@app-template\.service +start +running/), "\(jobs)")

            try await machine.signIn()
            // Waits for the start that is in progress.
            try await machine.person("systemctl", "--user", "start", "report.service")
            #expect(try await machine.unit("report.service", "Result") == "success")
            // The timer's run uses a token that the first one did not have.
            let token = try await machine.authc("token").out
            #expect(try await machine.authc("refresh").status == 0)
            #expect(try await machine.authc("token").out != token)
            let enable = try BootedMachine.blocks(of: "Docs/recipes.md", "sh").first {
                $0.contains("systemctl --user enable --now report.timer")
            }
            try await machine.person("bash", "-c", try #require(enable))
            let twice = #"grep -m2 -F "$0" < <(exec timeout 60 tail -n +1 -f "$HOME/report")"#
            let lines = try await machine.person("bash", "-c", twice, "ada@example.org")
            #expect(lines.split(separator: "\n").count == 2, "\(lines)")
        }
    }

    @Test("the key of sealed files comes from LoadCredentialEncrypted=, as documented, and nowhere else")
    func sealedCredential() async throws {
        try await BootedMachine.play { machine in
            try await machine.keepInSealedFiles()
            try await machine.signIn()
            let token = try await machine.authc("token").out
            let files = "/people/ada/.local/state/authd/sessions"
            #expect(try await machine.person("ls", files) == "app-template.session\nindex\nkey\n")
            // A stop hands nothing over: the next start has only the files and the key.
            for _ in 1...2 {
                try await machine.person("systemctl", "--user", "stop", "authd.service")
                #expect(try await machine.authc("token").out == token)
            }
            #expect(try await machine.authc("refresh").status == 0)
            let newer = try await machine.authc("token").out

            try await machine.person("systemctl", "--user", "stop", "authd.service")
            let unit = "/etc/systemd/system/user@1000.service.d/authd.conf"
            #expect(try await machine.asRoot("mv", unit, "/tmp/kept").status == 0)
            try await machine.startAgain()
            let locked = try await machine.authc("token")
            #expect(
                locked.status == 4 && locked.err.contains("sealed with a key, but no key is configured"),
                "\(locked.err)")
            #expect(try await machine.asRoot("mv", "/tmp/kept", unit).status == 0)
            try await machine.startAgain()
            #expect(try await machine.authc("token").out == newer)
        }
    }
}

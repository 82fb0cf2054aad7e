import TestSupport
import Testing

@Suite("Hooks, under a real user manager", .serialized, .timeLimit(.minutes(5)))
struct HookUnitTests {
    @Test("a command is a unit without authd's confinement; it gets the event, and its arguments as they are")
    func unit() async throws {
        try await BootedMachine.play { machine in
            let settings = ".config/authd/authd.toml"
            let good = try await machine.person("cat", "/people/ada/" + settings)
            let report = "cat; grep ^0:: /proc/self/cgroup; grep NoNewPrivs: /proc/self/status; echo $0"
            let hook = """
                [[hook]]
                on = "session.added"
                command = ["/bin/sh", "-c", "{ \(report); } > /people/ada/pipe", "literally $HOME ${HOME}"]

                """
            try await machine.write(hook + good, to: settings)
            try await machine.person("mkfifo", "/people/ada/pipe")
            async let seen = machine.asPerson(["timeout", "60", "cat", "/people/ada/pipe"])
            try await machine.signIn()
            let output = try await seen
            let lines = output.out.split(separator: "\n")
            try #require(output.status == 0 && lines.count == 4, "\(output)")
            #expect(lines[0].contains("\"event\":\"added\"") && lines[0].contains("app-template"), "\(lines[0])")
            #expect(lines[1].contains("user@1000.service/") && !lines[1].contains("authd"), "\(lines[1])")
            #expect(lines[2].split(separator: "\t").last == "0", "\(lines[2])")
            #expect(lines[3] == "literally $HOME ${HOME}")
        }
    }

    @Test("a unit that never ends is killed after 10 s, and the next command runs then")
    func slow() async throws {
        try await BootedMachine.play { machine in
            let settings = ".config/authd/authd.toml"
            let good = try await machine.person("cat", "/people/ada/" + settings)
            try await machine.person("mkfifo", "/people/ada/pipe", "/people/ada/never")
            let hooks = """
                [[hook]]
                on = "session.added"
                command = ["/bin/sh", "-c", "echo slow > /people/ada/pipe; read line < /people/ada/never"]
                [[hook]]
                on = "session.added"
                command = ["/bin/sh", "-c", "echo next > /people/ada/pipe"]

                """
            try await machine.write(hooks + good, to: settings)
            let lines = #"exec 3<>/people/ada/pipe; for i in 1 2; do read -r line <&3; echo "$line"; done"#
            async let seen = machine.asPerson(["timeout", "60", "bash", "-c", lines])
            try await machine.signIn()
            #expect(try await seen.out == "slow\nnext\n")
            #expect(try await machine.journal(until: "A hook took longer than") != nil)
            // The manager's own limit is as long, and begins a little later.
            let gone = "while pgrep -f 'people/ada/[n]ever' > /dev/null; do :; done"
            #expect(try await machine.asRoot("timeout", "60", "bash", "-c", gone).status == 0)
        }
    }
}

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
}

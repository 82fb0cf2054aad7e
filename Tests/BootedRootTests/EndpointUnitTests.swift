import Foundation
import TestSupport
import Testing

@Suite("The units of the local HTTP endpoint, under a real user manager", .serialized, .timeLimit(.minutes(5)))
struct EndpointUnitTests {
    /// A block of the recipes, for the machine's session.
    private func recipe(_ line: String) throws -> String {
        guard let block = try BootedMachine.blocks(of: "Docs/recipes.md", "sh").first(where: { $0.contains(line) })
        else { throw Failure("no recipe has \(line)") }
        return block.replacing("work", with: "app-template")
    }

    /// The machine shares the network of this one, where another program may have the usual port.
    private func usePort(_ port: Int, on machine: BootedMachine) async throws {
        try await machine.write(
            "[Socket]\nListenStream=\nListenStream=127.0.0.1:\(port)\nListenStream=%t/authd-http/socket\n",
            to: ".config/systemd/user/authd-http.socket.d/override.conf")
        try await machine.person("systemctl", "--user", "daemon-reload")
    }

    private func shell(_ script: String, _ machine: BootedMachine) async throws -> Child.Output {
        try await machine.asPerson(["bash", "-c", "export PATH=/usr/lib/authd-built:$PATH no_proxy='*'\n" + script])
    }

    @Test("nothing listens at first; enabled, the first request starts the endpoint, which starts authd")
    func socket() async throws {
        try await BootedMachine.play { machine in
            let port = try FreePort.find()
            try await usePort(port, on: machine)
            for unit in ["authd-http.socket", "authd-http.service"] {
                #expect(try await machine.asPerson(["systemctl", "--user", "is-enabled", unit]).out == "disabled\n")
                #expect(try await machine.unit(unit, "ActiveState") == "inactive")
            }
            let url = "http://127.0.0.1:\(port)/v1/token"
            // 7: nobody listens.
            #expect(try await shell("curl --silent \(url)", machine).status == 7)

            try await machine.signIn()
            let enabled = try await shell(recipe("authc http add reports"), machine)
            #expect(enabled.status == 0, "\(enabled)")
            let (folder, path) = ("/run/user/1000/authd-http", "/run/user/1000/authd-http/socket")
            #expect(try await machine.person("stat", "-c", "%a", path, folder) == "600\n700\n")
            #expect(try await machine.unit("authd-http.service", "ActiveState") == "inactive")
            try await machine.person("systemctl", "--user", "stop", "authd.service")
            let request = try recipe("authc http env reports").replacing(
                "env reports", with: "env --listen 127.0.0.1:\(port) reports")
            let token = try await machine.authc("token").out.trimmingCharacters(in: .newlines)
            try await machine.person("systemctl", "--user", "stop", "authd.service")
            let got = try await shell(request, machine)
            #expect(!token.isEmpty && got.out.contains("\"access_token\":\"\(token)\""), "\(got.err)")
            try await machine.isActive()
            let bare = try await shell("curl --silent -o /dev/null -w %{http_code} \(url)", machine)
            #expect(bare.out == "403", "\(bare)")
            let unix = try await shell("curl --silent -w %{http_code} --unix-socket \(path) http://a/v1/token", machine)
            #expect(unix.out.hasSuffix("403"), "\(unix)")
            // Another user of the machine, root too, gets nothing, not even a refusal.
            let root = try await machine.asRoot("curl", "--silent", "--noproxy", "*", url)
            #expect(root.status != 0 && root.out.isEmpty, "\(root)")

            // It ends as systemd expects, and the next request starts it again.
            try await machine.person("systemctl", "--user", "stop", "authd-http.service")
            #expect(try await machine.unit("authd-http.service", "Result") == "success")
            #expect(try await shell(request, machine).out.contains(token))
            try await machine.person("systemctl", "--user", "disable", "--now", "authd-http.socket")
            #expect(try await shell("curl --silent \(url)", machine).status == 7)
        }
    }

    @Test("the port of a program with Google's view is open after each login once the service is enabled")
    func service() async throws {
        try await BootedMachine.play { machine in
            let (own, port) = (try FreePort.find(), try FreePort.find())
            try await usePort(own, on: machine)
            try await machine.signIn()
            let enabled = try await shell(recipe("--view gce").replacing("7872", with: "\(port)"), machine)
            #expect(enabled.status == 0, "\(enabled)")
            let target = "http://127.0.0.1:\(port)/computeMetadata/v1/instance/service-accounts/default/token"
            let request = "curl --silent --retry 20 --retry-connrefused -H 'Metadata-Flavor: Google' \(target)"
            let token = try await machine.authc("token").out.trimmingCharacters(in: .newlines)
            let got = try await shell(request, machine)
            #expect(!token.isEmpty && got.out.contains("\"access_token\":\"\(token)\""), "\(got)")
            try await machine.startAgain()
            try await machine.startKeyring()
            #expect(try await machine.authc("wait", "-s", "app-template", "--timeout", "60s").status == 0)
            #expect(try await shell(request, machine).out.contains("\"access_token\""))
            #expect(try await shell("curl --silent \(target)", machine).out.contains("access_token") == false)
        }
    }
}

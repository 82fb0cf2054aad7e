import ArgumentParser
@testable import AuthDaemon
import AuthFiles
import AuthWire
import Foundation
import Logging
import TestSupport
import Testing

@Suite("Starting, and reading configuration")
struct StartTests {
    @Test("root with another user's environment is refused")
    func rootByMistake() throws {
        let variables = ["XDG_RUNTIME_DIR": "/run/user/1000", "HOME": "/root"]
        let owners: [String: UInt32] = ["/run/user/1000": 1000, "/root": 0]
        func check(_ userID: UInt32, _ variables: [String: String]) throws(StartRefusal) {
            try RootGuard.check(userID: userID, environment: { variables[$0] }, owner: { owners[$0] })
        }
        let refusal = #expect(throws: StartRefusal.self) { try check(0, variables) }
        #expect(refusal?.status == .refused)
        #expect(refusal?.message.contains("user 1000") == true)
        try check(1000, variables)
        try check(0, ["HOME": "/root"])
        try check(0, [:])
    }

    @Test("what a start leaves out is named: a part of the settings, or a whole profile")
    func skippedParts() {
        let places = ConfigurationPaths(file: nil) { ["HOME": "/home/ada"][$0] }
        let folder = "/home/ada/.config/authd"
        let problems = [
            ProfileProblem(file: folder + "/providers/a.toml", line: 1, key: "nmae", expected: "name", found: "nmae"),
            ProfileProblem(
                file: folder + "/providers/a.toml", line: 9, key: "renewal.kind", expected: "one of refresh"),
            ProfileProblem(
                file: folder + "/authd.toml", line: 2, key: "providers.x", expected: "a provider", found: "x"),
        ]
        let lines = SkippedConfiguration.lines(problems, in: places)
        #expect(lines.count == 5)
        #expect(lines[2].contains("providers/a.toml: the whole profile is skipped"))
        #expect(lines[4].contains("authd.toml: this part of the settings is skipped"))
    }

    @Test("user files precede system files")
    func places() {
        let ada = ["HOME": "/home/ada"]
        let places = ConfigurationPaths(file: nil) { ada[$0] }
        #expect(places.files == ["/home/ada/.config/authd/authd.toml", "/etc/xdg/authd/authd.toml"])
        #expect(places.folders == ["/home/ada/.config/authd/providers", "/etc/xdg/authd/providers"])
        let xdg = ["HOME": "/home/ada", "XDG_CONFIG_HOME": "/conf"]
        #expect(ConfigurationPaths(file: nil) { xdg[$0] }.files.first == "/conf/authd/authd.toml")
        let relative = ["HOME": "/home/ada", "XDG_CONFIG_HOME": "conf"]
        #expect(ConfigurationPaths(file: nil) { relative[$0] }.files.first == "/home/ada/.config/authd/authd.toml")
        let chosen = ConfigurationPaths(file: "/x/y.toml") { ada[$0] }
        #expect(chosen.files == ["/x/y.toml"])
        #expect(chosen.folders.first == "/x/providers")
    }

    @Test("the command line is that of the contract")
    func arguments() throws {
        let arguments = try AgentArguments.parse([
            "--config", "f", "--socket", "/s", "--store", "secret-service", "--log-level", "debug", "--check",
        ])
        #expect(arguments.config == "f")
        #expect(arguments.socket == "/s")
        #expect(arguments.store == .secretService)
        #expect(arguments.logLevel == .debug)
        #expect(arguments.check)
        #expect(throws: (any Error).self) { try AgentArguments.parse(["--store", "clouds"]) }
    }

    @Test(
        "plain options are read without ArgumentParser, with the same result",
        arguments: [
            [], ["--check"], ["--log-level", "debug", "--config", "f"],
            ["--socket", "/s", "--extra-socket", "/e", "--store", "memory"],
        ])
    func plainOptions(words: [String]) throws {
        #expect(AgentOptions(plain: words) == AgentOptions(try AgentArguments.parse(words)))
    }

    @Test(
        "all other words are left to ArgumentParser",
        arguments: [
            ["--store=memory"], ["--store", "clouds"], ["--log-level", "loud"], ["--socket", "s"], ["--socket"],
            ["--check", "--check"], ["--config", "f", "--config", "g"], ["--config", "--check"], ["--version"], ["-h"],
            ["more"],
        ])
    func otherWords(words: [String]) { #expect(AgentOptions(plain: words) == nil) }

    @Test(
        "a misspelt word is refused with the one that was meant",
        arguments: [
            ("--store", "sealedfile", "sealed-file"), ("--store", "secret", "secret-service"),
            ("--log-level", "debgu", "debug"), ("--log-level", "loud", nil),
        ] as [(String, String, String?)])
    func misspeltWord(option: String, word: String, meant: String?) throws {
        let error = try #require(throws: (any Error).self) { try AgentArguments.parse([option, word]) }
        #expect(AgentArguments.exitCode(for: error).rawValue == 64)
        let message = AgentArguments.message(for: error)
        #expect(message.contains("'\(word)' is not one of "), "\(message)")
        #expect(message.contains("Did you mean") == (meant != nil), "\(message)")
        if let meant { #expect(message.hasSuffix(" Did you mean \(meant)?"), "\(message)") }
    }

    @Test("an invalid --socket is a usage error that says what is wrong", arguments: ["", "relative/socket"])
    func invalidSocket(path: String) throws {
        let error = try #require(throws: (any Error).self) { try AgentArguments.parse(["--socket", path]) }
        #expect(AgentArguments.exitCode(for: error).rawValue == 64)
        #expect(AgentArguments.message(for: error).contains("--socket: the path of the socket must be absolute"))
    }

    @Test("a file beside the socket is replaced atomically and leaves nothing else")
    func runtimeFile() throws {
        let folder = try TemporaryFolder()
        let prompt = AtomicFile(path: folder.path + "/prompt")
        try prompt.replace(with: Array("shop:ada\n".utf8), durably: false)
        #expect(try String(contentsOfFile: prompt.path, encoding: .utf8) == "shop:ada\n")
        try prompt.replace(with: Array("\n".utf8), durably: false)
        #expect(try String(contentsOfFile: prompt.path, encoding: .utf8) == "\n")
        #expect(mode(of: prompt.path) == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["prompt"])
        try prompt.remove(durably: false)
        #expect(mode(of: prompt.path) == nil)
    }
}

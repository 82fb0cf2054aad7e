import AuthWire
import Foundation
import TestSupport
import Testing

@testable import AuthDaemon

@Suite("Profiles from clients are checked in another process", .timeLimit(.minutes(2)))
struct ProfileCheckTests {
    private let params = ProviderCheckRun(text: "name = 7", file: "shop.toml")

    private func answer(_ script: String, timeout: Duration = .seconds(60)) async -> Result<ProviderCheck, AgentError> {
        let process = ProfileCheckProcess(program: "/bin/sh", arguments: ["-c", script], timeout: timeout)
        do throws(AgentError) {
            return .success(try await process.check(params))
        } catch {
            return .failure(error)
        }
    }

    @Test("which gets the text, but no environment and no descriptor of the agent")
    func nothingElse() async throws {
        // Without close-on-exec, only the child's start can close it.
        let opened = open("/dev/null", O_RDONLY)
        let secret = fcntl(opened, F_DUPFD, 200)
        defer {
            close(opened)
            close(secret)
        }
        // Only commands built into the shell: others would add descriptors.
        let script = """
            read -r line
            case "$line" in *'"name = 7"'*) got=text ;; esac
            read -r found </proc/$$/environ
            i=0
            while [ $i -lt 400 ]; do [ -e /proc/$$/fd/$i ] && found="$found$i "; i=$((i + 1)); done
            printf '{"check":{"problems":[{"file":"f","line":1,"key":"%s","expected":"%s"}]}}' "$got" "$found"
            """
        let check = try await answer(script).get()
        #expect(check.problems.map(\.key) == ["text"])
        #expect(check.problems.map(\.expected) == ["0 1 2 "])
    }

    @Test(
        "which may crash, exit early or write nonsense: the caller gets an error",
        arguments: [
            ("kill -SEGV $$", "signal 11 ended its process"), ("exit 3", "status 3"), ("cat >/dev/null", "no result"),
            ("cat >/dev/null; echo '[]'", "no result"), ("exec cat /dev/zero", "killed"),
        ])
    func badEnds(script: String, reason: String) async {
        guard case .failure(let error) = await answer(script) else {
            Issue.record("there is a result")
            return
        }
        #expect(error.kind == .internal_ && error.cause == "provider_check")
        #expect(error.message.contains(reason), "\(error.message)")
    }

    @Test("which is killed if it takes too long")
    func timeout() async {
        guard case .failure(let error) = await answer("exec sleep 1000", timeout: .zero) else {
            Issue.record("there is a result")
            return
        }
        #expect(error.message.contains("was killed"), "\(error.message)")
    }

    @Test("which is killed if its caller has gone")
    func cancelled() async throws {
        let folder = try TemporaryFolder()
        let fifo = folder.path + "/pid"
        #expect(mkfifo(fifo, 0o600) == 0)
        let process = ProfileCheckProcess(
            program: "/bin/sh", arguments: ["-c", "echo $$ >\(fifo); PATH=/usr/bin:/bin; exec sleep 1000"])
        let check = Task { [params] in try? await process.check(params) }
        let written = try await onThread { try FileHandle(forReadingFrom: URL(fileURLWithPath: fifo)).readToEnd() }
        let pid = try #require(pid_t(String(decoding: written ?? Data(), as: UTF8.self).dropLast()))
        check.cancel()
        #expect(await check.value == nil)
        #expect(kill(pid, 0) == -1 && errno == ESRCH)
    }

    @Test("one at a time, each with its own result")
    func several() async throws {
        let script =
            "PATH=/usr/bin:/bin; key=$(sed 's/.*name = //; s/\".*//')"
            + "; printf '{\"check\":{\"problems\":[{\"file\":\"f\",\"line\":1,\"key\":\"%s\",\"expected\":\"\"}]}}' \"$key\""
        let process = ProfileCheckProcess(program: "/bin/sh", arguments: ["-c", script])
        try await withThrowingTaskGroup(of: (Int, ProviderCheck).self) { tasks in
            for number in 0..<12 {
                tasks.addTask { (number, try await process.check(ProviderCheckRun(text: "name = \(number)"))) }
            }
            for try await (number, check) in tasks { #expect(check.problems.map(\.key) == ["\(number)"]) }
        }
    }

    private static let hostile: [(name: String, text: String)] = [
        ("a byte order mark and a deep key", "\u{FEFF}" + String(repeating: "a.", count: 131_000) + "a = 1"),
        ("a deep key", String(repeating: "a.", count: 131_000) + "a = 1"),
        ("a deep list", "a = " + String(repeating: "[", count: 262_000)),
        (
            "many keys in one table",
            "[" + String(repeating: "t", count: 200) + "]\n" + String(repeating: "k=1\n", count: 60_000)
        ),
        ("a long list", "a = [" + String(repeating: "0,", count: 130_000) + "]"),
        ("what is no TOML", String(repeating: "\"", count: 262_000)),
    ]

    @Test("and the agent survives every text, with the same result as before for a valid one")
    func realAgent() async throws {
        let home = try Home()
        let authd = try await Program(home, ["--store", "memory"])
        try await authd.ready()
        let socket = home.socket
        let pid = JSON.integer(Int64(authd.pid))
        try await onThread {
            let client = try RawClient(socket)
            for (name, text) in Self.hostile {
                let answer = try client.ask("provider.check", ["text": .string(text), "file": "bad.toml"])
                let problems = answer["result"]?["problems"]?.arrayValue ?? []
                #expect(problems.count == 1, "\(name): \(answer.text().prefix(300))")
                #expect(problems.first?["file"] == "bad.toml")
                let rules = try client.ask("policy.replay", ["text": .string(text)])["error"]?["data"]
                let details = rules?["details"]?.arrayValue ?? []
                #expect(details.count == 1, "\(name): \(rules?.text().prefix(300) ?? "")")
                #expect(details.first?.stringValue?.hasPrefix("policy.toml:") == true)
                #expect(try client.ask("agent.ping")["result"]?["pid"] == pid)
            }
            let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent()
            let profile = root.appendingPathComponent("Sources/AuthProviders/Bundled/envelope.toml")
            let good = try String(contentsOf: profile, encoding: .utf8)
            #expect(try client.ask("provider.check", ["text": .string(good)])["result"] == ["problems": []])
            let bad = try client.ask("provider.check", ["text": "name = 7"])["result"]?["problems"]?[0]
            #expect(bad?["file"] == "profile" && bad?["line"] == 1, "\(String(describing: bad))")
            let rules = "[[rule]]\nname = \"no\"\neffect = \"deny\"\nmethod = [\"agent.*\"]\n"
            let replayed = try client.ask("policy.replay", ["text": .string(rules)])["result"]
            #expect(replayed?["entries"]?.integerValue != nil, "\(String(describing: replayed))")
        }
        #expect(await authd.end() == 0)
    }
}

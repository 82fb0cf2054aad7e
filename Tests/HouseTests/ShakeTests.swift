import Foundation
import Subprocess
import Testing

@Suite("make shake")
struct ShakeTests {
    /// Uses a stand-in for `swift`; the script is the program of the tests.
    private func withSwift(_ script: String, _ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "authd-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (name, script) in [("swift", "pwd"), ("authdPackageTests.xctest", script)] {
            let path = folder.path + "/" + name
            try ("#!/bin/bash\ncd '\(folder.path)'\n" + script + "\n")
                .write(toFile: path, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        }
        try await body(folder)
    }

    /// Runs a script with the folder in `$0`, the root of the project in `$1`, and in `$2` a pgrep(1) pattern for the
    /// processes of its shake.
    private func shell(_ script: String, _ folder: URL) async throws -> (status: TerminationStatus, output: String) {
        let processes = "^/bin/bash [^-].* \(folder.path)/swift|^\(folder.path)/"
        let result = try await run(
            .name("bash"), arguments: ["-c", script, folder.path, ProjectFiles.root.path, processes],
            output: .string(limit: 1 << 16), error: .string(limit: 1 << 16))
        #expect(result.standardError == "")
        return (result.terminationStatus, result.standardOutput)
    }

    /// The stream without a filter: the second pass fails; the third finds a process for each core and the script itself.
    private static let passes = """
        case "$*" in
        *--filter*) echo '✔ Test run with 5 tests in 2 suites passed after 0.1 seconds.'; exit;;
        esac
        echo pass >>passes
        case $(wc -l <passes) in
        2) echo '✘ Test "a b" failed after 0.1 seconds with 1 issue.'
           echo '✘ Suite "c" failed after 0.1 seconds with 1 issue.'
           echo '✘ Test run with 7 tests in 2 suites failed after 0.1 seconds with 1 issue.'
           exit 1;;
        3) pgrep -fc "^/bin/bash [^-].*/Tests/shake $PWD/swift " >processes;;
        esac
        echo '✔ Test run with 7 tests in 2 suites passed after 0.1 seconds.'
        """

    @Test("prints a line for each pass, fails if one failed, and keeps each core busy")
    func passes() async throws {
        try await withSwift(Self.passes) { folder in
            let (status, output) = try await shell(
                """
                "$1/Tests/shake" "$0/swift" 3 "$0/output"
                code=$?
                nproc
                cat "$0/processes"
                pgrep -f "$2"
                exit $code
                """, folder)
            let lines = output.split(separator: "\n").map(String.init)
            #expect(status == .exited(1))
            let passes = lines.filter { $0.hasPrefix("pass ") }
            #expect(passes.count == 3 && passes[1].hasPrefix("pass 2 of 3: 32 tests, 1 failures, "), "\(output)")
            #expect(passes.count { $0.contains(": 32 tests, 0 failures, ") } == 2)
            #expect(lines.contains("✘ Test \"a b\" failed after 0.1 seconds with 1 issue."))
            // The last two lines; a leftover process would follow them.
            let numbers = lines.suffix(2).compactMap { Int($0) }
            try #require(numbers.count == 2, "\(output)")
            #expect(numbers[1] == numbers[0] + 1)
        }
    }

    @Test("a pass that does not complete has failed, whatever its exit status is")
    func noEnd() async throws {
        try await withSwift("exit 0\n") { folder in
            let (status, output) = try await shell("\"$1/Tests/shake\" \"$0/swift\" 1 \"$0/output\"", folder)
            #expect(status == .exited(1))
            #expect(output.hasPrefix("pass 1 of 1: no tests, 0 failures, "), "\(output)")
        }
    }

    @Test("suites that print nothing any more are ended, and their processes are listed")
    func quiet() async throws {
        try await withSwift("echo '◇ Test \"a b\" started.'\nexec -a \"$PWD/stuck\" sleep 1000\n") { folder in
            let (status, output) = try await shell(
                """
                SUITES_SILENCE=1 "$1/Tests/run-suites" "$0/swift" 2>/dev/null
                code=$?
                pgrep -fa "$2"
                exit $code
                """, folder)
            #expect(status == .exited(134), "\(output)")
            let lines = output.split(separator: "\n")
            #expect(lines.first == "◇ Test \"a b\" started.")
            #expect(lines.contains { $0.hasSuffix("\(folder.path)/stuck 1000") }, "\(output)")
            #expect(lines.last == "error: the suites printed nothing for 1 s and are ended. What ran:", "\(output)")
        }
    }

    @Test(
        "leaves no process if it is interrupted", arguments: [("TERM", 143), ("HUP", 129)])
    func ended(signal: String, code: Int) async throws {
        try await withSwift("exec 3>begun\necho begun >&3\nexec -a \"$PWD/sleep\" sleep 1000\n") { folder in
            let (_, output) = try await shell(
                """
                mkfifo "$0/begun"
                "$1/Tests/shake" "$0/swift" 1 "$0/output" & shake=$!
                exec 4<"$0/begun"
                read -r _ <&4
                kill -\(signal) $shake
                wait $shake
                echo $?
                # Its end comes when nobody has it open any more.
                timeout 30 cat <&4 >/dev/null || echo 'The pass goes on.'
                pgrep -fa "$2"
                """, folder)
            #expect(output == "\(code)\n")
        }
    }
}

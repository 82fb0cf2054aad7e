import AuthWire
import Foundation
import TestSupport
import Testing

/// `authc` with the file of texts, beside the program that writes it.
@Suite("The texts that authc prints without the full program", .timeLimit(.minutes(10)))
struct QuickHelpTests {
    private static let widths = [20, 40, 63, 64, 80, 120, 200]

    @Test("the help of every command is the same at each width, after the word help, and with -h")
    func help() async throws {
        let lone = try await QuickInstalledTexts()
        // Those that no list has, too.
        var waiting = [[String](), ["redirect"], ["terminal"]]
        var count = 0
        while let command = waiting.popLast() {
            let words = command + ["--help"]
            for width in Self.widths {
                let text = try await lone.expectSame(words, ["COLUMNS": "\(width)"])
                let wide = HelpTests.lines(of: text, widerThan: max(width, 40))
                #expect(wide.isEmpty, "\(words) at \(width): \(wide)")
            }
            let text = try await lone.run(words).output
            #expect(text.contains("USAGE: authc"), "\(words)")
            #expect(try await lone.expectSame(["help"] + command) == text, "\(words)")
            #expect(try await lone.run(command + ["-h"]).output == text, "\(words)")
            waiting += HelpTests.children(of: text).map { command + [$0] }
            count += 1
        }
        #expect(count > 90, "\(count)")
    }

    @Test("lines are as long as COLUMNS, or the terminal, or 80 columns allow, and never shorter than 40 columns")
    func widths() async throws {
        let lone = try await QuickInstalledTexts()
        let words = ["helper", "aws", "--help"]
        let usual = try await lone.expectSame(words)
        #expect(usual == (try await lone.expectSame(words, ["COLUMNS": "80"])))
        #expect(usual == (try await lone.expectSame(words, ["COLUMNS": ""])))
        let narrow = try await lone.expectSame(words, ["COLUMNS": "40"])
        #expect(narrow != usual && narrow.contains("Show help"))
        for width in ["0", "1", "26", "27", "39"] {
            #expect(try await lone.expectSame(words, ["COLUMNS": width]) == narrow, "\(width)")
        }
        try await lone.expectSame(["help", "token"], ["COLUMNS": "20"])
        for width in 41...79 { try await lone.expectSame(words, ["COLUMNS": String(width)]) }
        try await lone.expectSame(words, ["COLUMNS": "080"])
        try await lone.expectSame(words, ["COLUMNS": "999999999"])
        for columns in [20, 60, 100] as [UInt16] {
            let alone = try await shown(lone.program, lone.folder, columns)
            #expect(try await shown(QuickAuthc.full, lone.folder, columns) == alone, "\(columns)")
            let set = try await shown("COLUMNS=77 " + lone.program, lone.folder, columns)
            #expect(try await shown("COLUMNS=77 " + QuickAuthc.full, lone.folder, columns) == set, "\(columns)")
            #expect(set != alone)
        }
    }

    private func shown(_ program: String, _ folder: String, _ columns: UInt16) async throws -> String {
        let terminal = try await Terminal(
            "\(program) helper aws --help; echo \"=end $?\"", folder: folder, columns: columns)
        await terminal.waits(for: "=end ")
        await terminal.ends()
        #expect(terminal.text.hasSuffix("=end 0\r\n"))
        return terminal.text
    }

    @Test(
        "help and scripts do not depend on the language or the terminal",
        arguments: [["LC_ALL": "C"], ["NO_COLOR": "1"], ["TERM": "dumb"], ["AUTHD_SOCKET": "relative"]])
    func environment(environment: [String: String]) async throws {
        let lone = try await QuickInstalledTexts()
        // Its help has a character beyond ASCII.
        for words in [["--help"], ["request", "--help"], ["completion", "zsh"]] {
            try await lone.expectSame(words, environment)
        }
    }

    @Test("the completion scripts are the same", arguments: ["bash", "zsh", "fish"])
    func scripts(shell: String) async throws {
        let lone = try await QuickInstalledTexts()
        #expect(try await lone.expectSame(["completion", shell]).utf8.count > 10_000)
    }

    @Test("every other command line, and an unusual width, are left to the full program")
    func otherCommandLines() async throws {
        let lone = try await QuickInstalledTexts()
        for words in [
            [], ["--help", "--help"], ["--help", "--json"], ["--json", "--help"], ["status", "--json", "--help"],
            ["-s", "work", "status", "--help"], ["help", "nothing"], ["nothing", "--help"], ["", "--help"],
            ["help", ""], ["status", "", "--help"],
            ["provider list", "--help"], ["help", "provider list"], ["help", "--help"], ["help", "help"],
            ["help", "status", "--help"], ["status", "--help", "status"], ["help", "completion", "bash"],
            ["completion"], ["completion", "ksh"], ["completion", ""], ["completion", "bash", "--timeout", "1s"],
            ["completion", "bash", "--help"], ["login\nlist", "--help"], ["--help-hidden"],
            ["a", "b", "c", "d", "e", "f", "g", "--help"], ["---texts"], ["---values"],
        ] { try await lone.expectLeft(words) }
        for width in ["wide", "+80", "-1", " 80", "80 ", "8e1", "1000000000"] {
            try await lone.expectLeft(["--help"], ["COLUMNS": width])
        }
        // Its lines have the same length on every terminal.
        try await lone.expectSame(["completion", "bash"], ["COLUMNS": "wide"])
    }

    @Test("a file that is missing, damaged, of another release, or older than the full program, is not used")
    func otherFiles() async throws {
        let lone = try await QuickInstalledTexts()
        let content = try String(contentsOfFile: lone.texts, encoding: .utf8)
        let start = "authc-texts \(Release.version) "
        #expect(content.hasPrefix(start))
        let end = try #require(content.firstIndex(of: "\n"))
        let firstLine = content[..<end]
        let rest = String(content[end...])
        let sizes = firstLine.dropFirst(start.count)
        for other in [
            "", "\n", start, String(content.dropLast()), content + "\n", String(content.prefix(1000)), rest,
            "authc-texts \(Release.version)1 \(sizes)\(rest)", "authc-texts 0.0.9 \(sizes)\(rest)",
            "authc-text \(Release.version) \(sizes)\(rest)", "\(start)-\(sizes)\(rest)", "\(start)1\(sizes)\(rest)",
            "\(start)999999999 999999999\(rest)", "\(firstLine)0\(rest)", "\(firstLine) \(rest)",
            // The first entry is of the root's help.
            content.replacing("\n0 ", with: "\n9 ", maxReplacements: 1),
            content.replacing(" --help\n", with: "9 -help\n", maxReplacements: 1),
            content.replacing("\u{1} ", with: "\u{1}\u{1F}", maxReplacements: 1),
            content.replacing("\u{2}", with: "\u{3}"),
        ] {
            try lone.replace("authc-texts", with: other)
            try await lone.expectLeft(["--help"], [:], "\(other.prefix(60))")
        }
        try lone.replace("authc-texts", with: content)
        try await lone.expectSame(["--help"])
        // As after an upgrade.
        try lone.replace("authc-full", with: "")
        try #require(utimes(lone.texts, [timeval(tv_sec: 1_700_000_000, tv_usec: 0), timeval()]) == 0)
        try await lone.expectLeft(["--help"])
        // As in a package, whose files all have the same time.
        var same = [timespec(tv_sec: 1_700_000_000, tv_nsec: 5), timespec(tv_sec: 1_700_000_000, tv_nsec: 5)]
        for name in [lone.texts, lone.folder + "/authc-full"] {
            try #require(utimensat(AT_FDCWD, name, same, 0) == 0)
        }
        try await lone.expectSame(["--help"])
        same[1].tv_nsec = 4
        try #require(utimensat(AT_FDCWD, lone.texts, same, 0) == 0)
        try await lone.expectLeft(["--help"])
        try FileManager.default.removeItem(atPath: lone.texts)
        try await lone.expectLeft(["--help"])
        try await lone.expectLeft(["completion", "bash"])
        try #require(mkfifo(lone.texts, 0o600) == 0)
        try await lone.expectLeft(["--help"])
    }

    @Test("a file that other users can change is not used")
    func untrusted() async throws {
        let lone = try await QuickInstalledTexts()
        try await lone.expectSame(["--help"])
        try #require(chmod(lone.texts, 0o602) == 0)
        try await lone.expectLeft(["--help"])
    }

    @Test("finds the file where make install puts it, even through a link")
    func places() async throws {
        let lone = try await QuickInstalledTexts()
        let files = FileManager.default
        for place in ["bin", "libexec/authd-session", "links"] {
            try files.createDirectory(atPath: lone.folder + "/" + place, withIntermediateDirectories: true)
        }
        try files.moveItem(atPath: lone.program, toPath: lone.folder + "/bin/authc")
        for name in ["authc-full", "authc-texts"] {
            try files.moveItem(
                atPath: lone.folder + "/" + name, toPath: lone.folder + "/libexec/authd-session/" + name)
        }
        try files.createSymbolicLink(atPath: lone.folder + "/links/authc", withDestinationPath: "../bin/authc")
        for program in ["bin/authc", "links/authc"] {
            let result = try await Program.run(["--help"], folder: lone.folder, program: lone.folder + "/" + program)
            #expect(result.output.hasPrefix("OVERVIEW: ") && result.status == 0, "\(result.errors)")
        }
    }

    @Test("a closed or full output is left to the full program", arguments: [">&-", ">/dev/full", "<&- >&-"])
    func outputs(redirection: String) async throws {
        let lone = try await QuickInstalledTexts()
        for words in ["--help", "help token", "completion bash"] {
            let result = try await Program.run(
                ["-c", "\(lone.program) \(words) \(redirection); exit $?"], folder: lone.folder, program: "/bin/bash")
            #expect(result.errors == lone.startFailure && result.status == 70, "\(words)")
        }
    }

    @Test("a pipe that nobody reads ends both programs in the same way, and one that takes less gets the whole text")
    func pipes() async throws {
        let lone = try await QuickInstalledTexts()
        // F_SETPIPE_SZ is 1031: the smallest pipe, and it does not block.
        let script = """
            import fcntl, hashlib, os, signal, subprocess, sys
            command = sys.argv[1:]
            for handling in (signal.SIG_DFL, signal.SIG_IGN):
                signal.signal(signal.SIGPIPE, handling)
                reader, writer = os.pipe()
                os.close(reader)
                child = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, restore_signals=False)
                os.close(writer)
                print(child.returncode, child.stderr)
            reader, writer = os.pipe()
            fcntl.fcntl(writer, 1031, 4096)
            os.set_blocking(writer, False)
            child = subprocess.Popen(command, stdout=writer)
            os.close(writer)
            print(hashlib.sha256(os.fdopen(reader, "rb").read()).hexdigest(), child.wait())
            """
        for words in [["--help"], ["completion", "bash"]] {
            var results: [Program] = []
            for program in [lone.program, QuickAuthc.full] {
                results.append(
                    try await Program.run(
                        ["-c", script, program] + words, folder: lone.folder, program: "/usr/bin/python3"))
            }
            #expect(results[0].output == results[1].output && results[0].output.hasSuffix(" 0\n"))
            #expect(results.allSatisfy { $0.errors.isEmpty && $0.status == 0 })
        }
    }
}

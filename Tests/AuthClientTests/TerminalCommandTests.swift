import Foundation
import TestSupport
import Testing

/// What the button of a notification runs, with programs that write down how they were started.
@Suite("authc terminal", .timeLimit(.minutes(1)))
struct TerminalCommandTests {
    /// A folder with these programs in it.
    private static func folder(_ programs: [String]) throws -> String {
        let folder = try TestFolder.make()
        try FileManager.default.createDirectory(atPath: folder + "/bin", withIntermediateDirectories: true)
        for name in programs {
            let path = "\(folder)/bin/\(name)"
            try "#!/bin/sh\necho \"$0 $*\"\n".write(toFile: path, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        }
        return folder
    }

    private static func run(_ arguments: [String], in folder: String, _ more: [String: String] = [:]) async throws
        -> Program
    {
        let environment = ["PATH": folder + "/bin", "DISPLAY": ":1"].merging(more) { $1 }
        return try await Program.run(["terminal"] + arguments, folder: folder, environment: environment)
    }

    /// What a program got from authc, without the paths.
    private static func started(_ output: String) -> String {
        output.split(separator: " ").map { $0.split(separator: "/").last.map(String.init) ?? "" }
            .joined(separator: " ").trimmingCharacters(in: .newlines)
    }

    @Test(
        "the user's terminal comes first, then the standard's, Debian's and the desktops'",
        arguments: [
            (["xterm", "foot", "x-terminal-emulator", "xdg-terminal-exec"], "", "xdg-terminal-exec authc-full"),
            (["xterm", "foot", "x-terminal-emulator"], "", "x-terminal-emulator -e authc-full"),
            (["xterm", "gnome-terminal", "kitty"], "", "gnome-terminal -- authc-full"),
            (["xterm", "kitty"], "", "kitty authc-full"),
            (["xterm", "kitty", "mine"], "mine", "mine -e authc-full"),
            (["xterm", "wezterm"], "wezterm", "wezterm start -- authc-full"),
            (["xterm"], "gone", "xterm -e authc-full"),
        ])
    func order(programs: [String], chosen: String, started: String) async throws {
        let folder = try Self.folder(programs)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let words = ["login", "work", "-s", "work"]
        let result = try await Self.run(["--"] + words, in: folder, ["TERMINAL": chosen])
        #expect(result.status == 0, "\(result.errors)")
        #expect(Self.started(result.output) == started + " terminal --inside -- login work -s work")
        let byPath = try await Self.run(
            ["--socket", folder + "/s", "--"] + words, in: folder, ["TERMINAL": folder + "/bin/" + programs[0]])
        #expect(byPath.output.hasPrefix(folder + "/bin/" + programs[0] + " "), "\(byPath.output)")
        #expect(byPath.output.hasSuffix(" --socket \(folder)/s -- login work -s work\n"), "\(byPath.output)")
    }

    @Test("a browser makes a terminal unnecessary, if there is one to open")
    func browser() async throws {
        let folder = try Self.folder(["xterm"])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let arguments = ["--browser", "--", "login", "work"]
        #expect(Self.started(try await Self.run(arguments, in: folder).output).hasPrefix("xterm -e "))
        let program = folder + "/bin/xdg-open"
        try FileManager.default.copyItem(atPath: folder + "/bin/xterm", toPath: program)
        // The command itself runs, and finds no agent.
        let direct = try await Self.run(arguments, in: folder)
        #expect(direct.status == 69 && direct.output.isEmpty, "\(direct.output)\(direct.errors)")
        let remote = try await Self.run(arguments, in: folder, ["SSH_CONNECTION": "a b c d"])
        #expect(Self.started(remote.output).hasPrefix("xterm -e "))
    }

    @Test("without a screen or a terminal it fails, and says why")
    func none() async throws {
        let folder = try Self.folder([])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let noTerminal = try await Self.run(["--", "unlock"], in: folder)
        #expect(noTerminal.status == 127 && noTerminal.errors.contains("set TERMINAL"), "\(noTerminal.errors)")
        let noScreen = try await Self.run(["--", "unlock"], in: folder, ["DISPLAY": "", "WAYLAND_DISPLAY": ""])
        #expect(noScreen.status == 127 && noScreen.errors.contains("DISPLAY"), "\(noScreen.errors)")
        let nothing = try await Self.run([], in: folder)
        #expect(nothing.status == 64, "\(nothing.errors)")
    }

    @Test("inside, the command's output stays until Enter, and its failure is not the terminal's")
    func inside() async throws {
        let folder = try Self.folder([])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let result = try await Program.run(
            ["terminal", "--inside", "--", "status", "--socket", folder + "/none"], folder: folder, input: "\n")
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.errors.contains("Press Enter"), "\(result.errors)")
    }
}

import AuthWire
import Foundation
import Synchronization
import TestSupport

/// What commands show on a terminal, as text: what the agent replies, what is typed, what is seen at which widths.
///
///     agent session.list {"sessions":[]}
///     file authd.toml "log_level = \"notice\"\n"
///     $ authc logout --all
///     ? [y/N] => n
///     @ 80
///     …
///     exit 77
///     @ 40
///     …
///
/// `agent` and `error` are as in a ``Transcript``; several for one method are the replies to its calls in turn, and the last
/// one is repeated. `ends METHOD`: the agent closes the connection after that reply. `file` has a file below the home, as
/// JSON. `?` waits for a text, then types. `@ 80 40` stands before what both widths show. `unbroken TEXT`: lines that begin
/// with it are for copying, and may be wider than the screen. `unseen TEXT`: lines that begin with it depend on the machine,
/// and are left out with the indented ones below them. The folder of a run is `/tmp/authc-FOLDER`, in replies too. Colours
/// are left out.
struct ScreenTranscript {
    struct Command {
        let line: String
        var typed: [(prompt: String, answer: String)] = []
        /// By width.
        var expected: [UInt16: String] = [:]

        /// Only a command that sets a different language than the test may show more.
        var showsASCII: Bool { !line.contains("UTF-8") }
    }

    private var replies: [String: [Result<JSON, AgentError>]] = [:]
    /// The methods after whose reply the connection ends.
    private let ending: Set<String>
    private(set) var files: [(path: String, text: String)] = []
    private(set) var unbroken: [String] = []
    private let unseen: [String]
    private(set) var commands: [Command] = []

    init(_ text: String) throws {
        let (head, body) = Self.parts(text)
        for line in head.split(separator: "\n").map(String.init) {
            for (method, reply) in try Transcript(line).replies { replies[method, default: []].append(reply) }
            guard line.hasPrefix("file ") else { continue }
            let parts = line.split(separator: " ", maxSplits: 2).map(String.init)
            files.append((parts[1], try JSON(parsing: parts[2]).stringValue ?? ""))
        }
        func texts(_ word: String) -> [String] {
            head.split(separator: "\n").filter { $0.hasPrefix(word + " ") }.map { String($0.dropFirst(word.count + 1)) }
        }
        unbroken = texts("unbroken")
        unseen = texts("unseen")
        ending = Set(texts("ends"))
        var widths: [UInt16] = []
        for line in body.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if line.hasPrefix("$ ") {
                commands.append(Command(line: String(line.dropFirst(2))))
                widths = []
            } else if line.hasPrefix("@ ") {
                widths = line.split(separator: " ").compactMap { UInt16($0) }
            } else if line.hasPrefix("? "), widths.isEmpty {
                let parts = line.dropFirst(2).components(separatedBy: " => ")
                commands[commands.count - 1].typed.append((parts[0], parts.dropFirst().first ?? ""))
            } else {
                for width in widths { commands[commands.count - 1].expected[width, default: ""] += line + "\n" }
            }
        }
        for index in commands.indices {
            commands[index].expected = commands[index].expected.mapValues { $0.trimmingCharacters(in: .newlines) }
        }
    }

    private static func parts(_ text: String) -> (head: String, body: String) {
        guard let start = text.range(of: "\n$ ") else { return (text, "") }
        return (String(text[..<start.lowerBound]) + "\n", String(text[start.lowerBound...].dropFirst()))
    }

    /// Every folder of ``TestFolder`` has a path of this length, so that lines are broken at the same places.
    private static let folder = "/tmp/authc-FOLDER"

    /// What a command shows on a terminal of this width: plain, in ASCII.
    func shown(_ command: Command, columns: UInt16) async throws -> String {
        let place = try TestFolder.make()
        let agent = try agent(in: place)
        defer { agent.stop() }
        for file in files {
            let place = URL(filePath: agent.folder + "/" + file.path)
            try FileManager.default.createDirectory(
                at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
            try file.text.write(to: place, atomically: true, encoding: .utf8)
        }
        let terminal = try await Terminal(
            "cd \"$XDG_RUNTIME_DIR\"; \(command.line); echo \"exit $?\"; echo \(Self.end)", columns: columns,
            environment: [
                "XDG_RUNTIME_DIR": agent.folder, "HOME": agent.folder, "PATH": "/usr/bin:/bin", "TZ": "UTC",
                "LANG": "C", "NO_COLOR": "1",
            ])
        for typed in command.typed {
            await terminal.waits(for: typed.prompt)
            terminal.type(typed.answer + "\n")
        }
        await terminal.waits(for: Self.end + "\r\n")
        await terminal.ends()
        let text = terminal.text.replacing("\r\n", with: "\n").replacing(Self.end, with: "")
            .replacing(agent.folder, with: Self.folder).replacing(/\u{1B}\[[0-9;]*m/, with: "")
        var isLeftOut = false
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).filter { line in
            isLeftOut = isLeftOut && line.hasPrefix(" ") || unseen.contains { line.hasPrefix($0) }
            return !isLeftOut
        }
        return lines.joined(separator: "\n").trimmingCharacters(in: .newlines)
    }

    private func agent(in place: String) throws -> TestAgent {
        let waiting = Mutex(replies.mapValues { replies in replies.map { Self.inFolder(place, $0) } })
        return try TestAgent(folder: place) { [ending] peer, request in
            let reply = waiting.withLock { waiting -> Result<JSON, AgentError>? in
                guard let replies = waiting[request.method], replies.count > 1 else {
                    return waiting[request.method]?.first
                }
                return waiting[request.method]?.removeFirst()
            }
            switch reply {
            case .success(let result): peer.reply(request, result)
            case .failure(let error): peer.fail(request, error)
            case nil: peer.fail(request, .methodNotFound(request.method))
            }
            if ending.contains(request.method) { peer.end() }
        }
    }

    /// A reply may name files of this run.
    private static func inFolder(_ place: String, _ reply: Result<JSON, AgentError>) -> Result<JSON, AgentError> {
        reply.map { json in
            let text = String(decoding: json.serialized(), as: UTF8.self)
            return text.contains(folder) ? (try? JSON(parsing: text.replacing(folder, with: place))) ?? json : json
        }
    }

    private static let end = "=end="
}

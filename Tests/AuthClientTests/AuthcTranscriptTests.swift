import Foundation
import Testing

@Suite("authc as it is typed")
struct AuthcTranscriptTests {
    static let transcripts = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Transcripts")

    static var names: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: transcripts.path)) ?? []
        return names.filter { $0.hasSuffix(".txt") }.sorted()
    }

    @Test("every command of a transcript prints what is written there", arguments: names)
    func transcript(name: String) async throws {
        let file = Self.transcripts.appendingPathComponent(name)
        let transcript = try Transcript(String(contentsOf: file, encoding: .utf8))
        #expect(!transcript.commands.isEmpty)
        let agent = try TestAgent(replies: transcript.replies)
        defer { agent.stop() }
        try SystemdManager.add(to: agent.folder)
        try "\(getpid()) shop:ada@example.org wiki!stale\n".write(
            toFile: agent.folder + "/authd/prompt", atomically: true, encoding: .utf8)
        try "name = 7\n".write(toFile: agent.folder + "/bad.toml", atomically: true, encoding: .utf8)
        for command in transcript.commands {
            let authc = Program.authc
            let shell = "cd \"$XDG_RUNTIME_DIR\"; authc() { \"\(authc)\" \"$@\"; }; \(command.line)"
            let result = try await Program.run(["-c", shell], folder: agent.folder, program: "/bin/bash")
            #expect(Transcript.written(result) == command.expected, "\(name): \(command.line)")
            for line in command.expected.split(separator: "\n") {
                #expect(line.count { $0 == "`" } % 2 == 0, "\(name): a command is on two lines: \(line)")
            }
        }
    }
}

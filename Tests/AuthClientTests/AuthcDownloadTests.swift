import AuthWire
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@Suite("Long responses of authc", .timeLimit(.minutes(1)))
struct AuthcDownloadTests {
    /// The agent's end of the socket that authc reads.
    private final class Output: Sendable {
        private let number = Mutex<Int32>(-1)

        /// Answers with a socket.
        func pass(to peer: Peer, _ request: RPCRequest) {
            var ends: [Int32] = [-1, -1]
            guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else { return }
            number.withLock { $0 = ends[0] }
            let piece: JSON = ["body_base64": "", "last": false]
            peer.send(RPCReply.result(request.id ?? .null, piece), passingTwice: ends[1])
            close(ends[1])
        }

        func write(_ text: String) {
            _ = number.withLock { Glibc.send($0, text, text.utf8.count, Int32(MSG_NOSIGNAL)) }
        }

        func end() {
            number.withLock { number in
                close(number)
                number = -1
            }
        }
    }

    /// An agent that passes a socket for the response to a call.
    /// - Parameter answer: called for each other read, with its number.
    private static func agent(
        _ answer: @escaping @Sendable (Int, RPCRequest, Peer, Output) -> Void
    ) throws -> TestAgent {
        let output = Output()
        let reads = Mutex(0)
        return try TestAgent { peer, request in
            switch request.method {
            case "api.request":
                peer.reply(request, ["status": 200, "headers": [:], "stream": "body", "from_cache": false])
            case "api.read" where request.params?["socket"] == true: output.pass(to: peer, request)
            case "api.read":
                let number = reads.withLock { reads in
                    reads += 1
                    return reads
                }
                answer(number, request, peer, output)
            default: peer.fail(request, .methodNotFound(request.method))
            }
        }
    }

    private static func download(from agent: TestAgent) async throws -> Program {
        try await Program.run(["request", "GET", "/down", "-s", "x", "-o", "-"], folder: agent.folder)
    }

    private static let end: JSON = ["body_base64": "", "last": true]

    @Test("a response is complete although the agent stops after its last answer")
    func stopping() async throws {
        let agent = try Self.agent { _, request, peer, output in
            peer.reply(request, Self.end)
            peer.end()
            output.write("abc")
            output.end()
        }
        defer { agent.stop() }
        let result = try await Self.download(from: agent)
        #expect(result.status == 0 && result.output == "abc", "\(result)")
    }

    /// A slash and the mark after it are one character, and no name has more than 255 bytes.
    @Test("a response is written beside its file, whatever the name is", arguments: ["\u{301}a", "漢"])
    func anyName(start: String) async throws {
        let agent = try Self.agent { _, request, peer, output in
            peer.reply(request, Self.end)
            output.write("abc")
            output.end()
        }
        defer { agent.stop() }
        let name = start + String(repeating: "漢", count: 83)
        let result = try await Program.run(
            ["request", "GET", "/down", "-s", "x", "-o", agent.folder + "/" + name], folder: agent.folder)
        #expect(result.status == 0, "\(result)")
        #expect(try String(contentsOfFile: agent.folder + "/" + name, encoding: .utf8) == "abc")
    }

    @Test("a stream that the agent ends is reported with the reason, after what has arrived")
    func reason() async throws {
        let agent = try Self.agent { number, request, peer, output in
            guard number == 1 else {
                return peer.fail(request, AgentError(.notFound, "There is no stream.", cause: "no_stream"))
            }
            peer.fail(request, AgentError(.timeout, "The stream did not end in time."))
            output.write("abc")
            output.end()
        }
        defer { agent.stop() }
        let result = try await Self.download(from: agent)
        #expect(result.status == 75 && result.output == "abc", "\(result)")
        #expect(result.errors.contains("The stream did not end in time."), "\(result)")
    }

    @Test("a read that fails although the stream goes on is sent again at the end of the socket")
    func again() async throws {
        let agent = try Self.agent { number, request, peer, output in
            guard number == 1 else { return peer.reply(request, Self.end) }
            peer.fail(request, AgentError(.busy, "Too many requests are in progress."))
            output.write("abc")
            output.end()
        }
        defer { agent.stop() }
        let result = try await Self.download(from: agent)
        #expect(result.status == 0 && result.output == "abc", "\(result)")
    }

    @Test("a signal ends authc although its output is not read")
    func unread() async throws {
        // More than a pipe holds (pipe(7)).
        let agent = try Self.agent { _, _, _, output in
            output.write(String(repeating: "x", count: 200_000))
            output.end()
        }
        defer { agent.stop() }
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        let (reading, writing) = (ends[0], ends[1])
        defer { close(reading) }
        let child = try await Child(
            ["sh", "-c", "exec \"$0\" request GET /down -s x -o - >&3", Program.authc],
            environment: Program.environment(agent.folder), passed: [writing])
        close(writing)
        try await onThread {
            var found = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
            #expect(poll(&found, 1, 20_000) == 1)
        }
        #expect(await child.end() == 128 + SIGTERM)
    }

    @Test("a socket that ends without an answer is a failure")
    func cutOff() async throws {
        let agent = try Self.agent { _, _, peer, output in
            output.write("abc")
            output.end()
            peer.end()
        }
        defer { agent.stop() }
        let result = try await Self.download(from: agent)
        #expect(result.status == 69, "\(result)")
    }
}

import AuthWire
import Foundation
import TestSupport
import Testing

/// Commands that become `authd-gateway`, with an agent that answers wrongly.
@Suite("How authc proxy and authc http end if they cannot begin", .timeLimit(.minutes(1)))
struct AuthcGatewayExitTests {
    /// The command, and the first method that it calls.
    private static let commands = [
        (["proxy"], "session.status"), (["http", "serve", "--listen", "127.0.0.1:0"], "agent.info"),
    ]

    @Test("each kind of error has the exit status of every command", arguments: ErrorKind.allCases)
    func kind(_ kind: ErrorKind) async throws {
        for (command, method) in Self.commands {
            let agent = try TestAgent(replies: [method: .failure(AgentError(kind, "It did not work."))])
            defer { agent.stop() }
            let result = try await Program.run(command, folder: agent.folder)
            #expect(result.status == AuthcExitTests.statuses[kind], "\(command): \(result)")
            #expect(result.output.isEmpty && result.errors.contains("It did not work."), "\(command): \(result)")
        }
    }

    @Test("a response that is too large is 76, and an agent that ends within one is 69")
    func hostile() async throws {
        for (command, method) in Self.commands {
            let long = try TestAgent { peer, request in
                guard request.method == method else { return peer.reply(request, [:]) }
                for _ in 0..<16 { peer.send(bytes: [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)) }
            }
            defer { long.stop() }
            let tooLarge = try await Program.run(command, folder: long.folder)
            #expect(tooLarge.status == 76 && tooLarge.output.isEmpty, "\(command): \(tooLarge)")
            let short = try TestAgent { peer, _ in
                peer.send(bytes: Array("{".utf8))
                peer.end()
            }
            defer { short.stop() }
            let ended = try await Program.run(command, folder: short.folder)
            #expect(ended.status == 69 && ended.output.isEmpty, "\(command): \(ended)")
        }
    }
}

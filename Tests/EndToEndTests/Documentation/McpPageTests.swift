import AuthWire
import Foundation
import TestSupport
import Testing

/// Every command of `Docs/mcp.md`, with the MCP SDK's server in place of the example.
@Suite("The page about MCP servers", .serialized, .timeLimit(.minutes(2)))
struct McpPageTests {
    /// The commands of the page, in their order.
    private func commands() throws -> [String] {
        let text = try SourceTree.text("Docs/mcp.md")
        return text.components(separatedBy: "```sh\n").dropFirst().flatMap { part in
            part.components(separatedBy: "```")[0].split(separator: "\n").map(String.init)
        }
    }

    @Test("the configuration for programs that start commands names one that works")
    func configuration() async throws {
        let text = try SourceTree.text("Docs/mcp.md")
        let block = text.components(separatedBy: "```json\n").dropFirst().first?.components(separatedBy: "```")[0]
        let server = try JSON(parsing: block ?? "")["mcpServers"]?["example"]
        #expect(server?["command"] == "authc")
        let words = server?["args"]?.arrayValue?.compactMap(\.stringValue) ?? []
        #expect(words.count == 2 && words.first == "mcp")
        try await Scene.play { scene in
            try await Peer.running(.mcp, ["open"], in: scene.desktop) { server in
                let url = try #require(words.last).replacing("https://mcp.example.com", with: server.url)
                let bridge = try await HeldBridge(url, on: scene.desktop)
                #expect(try await bridge.ask(HeldBridge.initialize)["result"] != nil)
                await bridge.child.end()
            }
        }
    }

    @Test("every command works as it is written")
    func page() async throws {
        let commands = try commands()
        #expect(commands.count == 8)
        try await Scene.play { scene in
            try await Peer.running(.mcp, in: scene.desktop) { server in
                for command in commands {
                    let line = command.replacing("https://mcp.example.com", with: server.url)
                        .replacing("-s mcp.example.com", with: "-s 127.0.0.1-\(server.port)")
                    if line.hasPrefix("authc login ") {
                        let words = line.split(separator: " ").dropFirst(2).map(String.init)
                        let (login, address) = try await scene.beginInBrowser(Array(words.dropFirst()), at: words[0])
                        _ = try await scene.get(address)
                        let output = await login.output()
                        #expect(output.status == 0, "\(line): \(output.err)")
                    } else {
                        let output = try await scene.shell(
                            line.replacing("authc ", with: "\(Programs.authc) "))
                        #expect(output.status == 0, "\(line): \(output.err)")
                        if line.contains("authc mcp") { #expect(output.out.contains(#""protocolVersion""#)) }
                    }
                }
            }
        }
    }
}

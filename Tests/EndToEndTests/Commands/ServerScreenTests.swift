import AuthWire
import Foundation
import TestSupport
import Testing

/// Commands that show what a server returns, or the ports and keys of a run. All others: ScreenTests.
@Suite("Screens of 80 and 40 columns with real servers, NO_COLOR and LANG=C", .serialized, .timeLimit(.minutes(3)))
struct ServerScreenTests {
    private static let widths: [UInt16] = [80, 40]
    private static let role = "arn:aws:iam::123456789012:role/reader"

    /// What a line shows until its end.
    /// - Parameter end: the user presses ^C after this.
    private func shown(
        _ line: String, _ scene: Scene, columns: UInt16, interruptedAfter end: String? = nil
    ) async throws -> String {
        let terminal = try await scene.terminal(line, columns: columns, with: ["NO_COLOR": "1", "LANG": "C"])
        if let end {
            await terminal.waits(for: end)
            terminal.type("\u{03}")
        }
        await terminal.ends()
        let text = terminal.text.replacing("\r\n", with: "\n")
        #expect(text.utf8.allSatisfy { $0 == 0x0A || 0x20..<0x7F ~= $0 }, "\(columns): \(text)")
        return text.replacing(/127\.0\.0\.1:[0-9]+/, with: "127.0.0.1:PORT")
            .replacing(scene.desktop.folder.path, with: "FOLDER")
    }

    @Test("authc http serve and authc proxy show where they listen, and ^C ends them", arguments: widths)
    func listening(columns: UInt16) async throws {
        try await EndpointScene.play { play in
            let served = try await shown(
                "authc http serve --listen 127.0.0.1:0 --unix", play.scene, columns: columns,
                interruptedAfter: "authd-http/socket\r\n")
            #expect(served == "http://127.0.0.1:PORT\nunix:FOLDER/run/authd-http/socket\n^Cexit 0\n")
            let proxy = try await shown(
                "authc proxy -s work --listen 127.0.0.1:0", play.scene, columns: columns, interruptedAfter: "\r\n")
            #expect(
                proxy.replacing(/[A-Za-z0-9_-]{43}/, with: "KEY") == "http://127.0.0.1:PORT/KEY\n^Cexit 0\n", "\(proxy)"
            )
        }
    }

    @Test("authc helper wget and authc helper aws print what a server returned, and break no line", arguments: widths)
    func helpers(columns: UInt16) async throws {
        try await EndpointScene.play { play in
            let page = try await shown(
                "authc helper wget \(play.server.url)/log -- -q -O -", play.scene, columns: columns)
            #expect(page == "[]exit 0\n")
            let aws = try await shown(
                "authc helper aws -s work --role \(Self.role) --sts \(play.server.url)", play.scene, columns: columns)
            let lines = aws.split(separator: "\n")
            #expect(lines.count == 2 && lines.last == "exit 0", "\(aws)")
            let credentials = try JSON(parsing: String(lines.first ?? ""))
            #expect(credentials["Version"] == 1 && credentials["SessionToken"]?.stringValue?.isEmpty == false, "\(aws)")
        }
    }

    @Test("authc mcp prints each response of the server on one line", arguments: widths)
    func bridge(columns: UInt16) async throws {
        try await Scene.play { scene in
            try await Peer.running(.mcp, ["sessions"], in: scene.desktop) { server in
                let play = ResourceScene(scene: scene, server: server)
                try await play.signIn()
                let request: JSON = [
                    "jsonrpc": "2.0", "id": 1, "method": "initialize",
                    "params": [
                        "protocolVersion": "2025-11-25", "capabilities": [:],
                        "clientInfo": ["name": "screen", "version": "1"],
                    ],
                ]
                let text = try await shown(
                    "echo '\(request.text())' | authc mcp \(play.url)", scene, columns: columns)
                let lines = text.split(separator: "\n")
                #expect(lines.count == 2 && lines.last == "exit 0", "\(text)")
                let result = try JSON(parsing: String(lines.first ?? ""))["result"]
                #expect(result?["protocolVersion"] == "2025-11-25", "\(text)")
            }
        }
    }
}

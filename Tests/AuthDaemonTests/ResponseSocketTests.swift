import AgentTestSupport
import AuthAgent
import AuthDaemon
import AuthModel
import AuthWire
import Foundation
import TestSupport
import Testing

/// Clients that request a socket for a response, on a real connection.
@Suite("Sockets for responses on the agent's socket", .timeLimit(.minutes(1)))
struct ResponseSocketTests {
    /// A client with a call whose response has begun.
    private struct Download {
        let client: RawClient

        init(_ client: RawClient) throws {
            self.client = client
            let params: JSON = ["method": "GET", "path": "/down", "stream": "s", "answer": "stream"]
            let head = try client.ask("api.request", params)
            guard head["result"]?["stream"] == "s" else { throw Failure(head.text()) }
        }

        static func request(_ stream: String = "s", id: JSON? = 2) -> String {
            RawClient.request("api.read", ["stream": .string(stream), "socket": true], id: id)
        }

        /// - Returns: the answer, and the client's end of the socket.
        func socket(_ stream: String = "s") throws -> (answer: JSON, end: PassedSocket?) {
            try client.answerAndSocket(to: Self.request(stream))
        }

        /// What the agent says about the response after the end of the socket.
        func ending() throws -> JSON { try client.ask("api.read", ["stream": "s"], id: 3) }
    }

    private static func isWhole(_ answer: JSON) -> Bool {
        answer["result"]?["last"] == true && answer["result"]?["body_base64"] == ""
    }

    @Test("a client reads a response from its socket as it arrives, and learns at the end that it is complete")
    func honest() async throws {
        let download = ScriptedDownload()
        try await BodySocketRequestTests.play(downloads: [download]) { rig, _ in
            try await onThread {
                let client = try Download(try rig.dial())
                let (answer, end) = try client.socket()
                #expect(answer["result"] == ["body_base64": "", "last": false], "\(answer.text())")
                let socket = try #require(end)
                #expect(try socket.bytes() == ScriptedDownload.head)
                #expect(rig.counters.openBodySockets == 1)
                download.order(.bytes(Array("abc".utf8)))
                #expect(try socket.bytes() == Array("abc".utf8))
                download.order(.bytes(Array("def".utf8)), .end)
                #expect(try socket.rest() == Array("def".utf8))
                let ending = try client.ending()
                #expect(Self.isWhole(ending), "\(ending.text())")
                rig.turn()
                #expect(rig.counters.bodySockets == 1 && rig.counters.openBodySockets == 0)
                #expect(try client.ending().errorCause == "no_stream")
            }
        }
    }

    @Test("a read may be sent before the end, and after pieces the socket has the rest")
    func early() async throws {
        let download = ScriptedDownload()
        try await BodySocketRequestTests.play(downloads: [download]) { rig, _ in
            try await onThread {
                let client = try Download(try rig.dial())
                let piece = try client.ending()
                #expect(piece["result"] == ["body_base64": "aGVhZA==", "last": false], "\(piece.text())")
                let socket = try #require(try client.socket().end)
                try client.client.send(RawClient.request("api.read", ["stream": "s"], id: 4))
                download.order(.bytes(Array("abc".utf8)), .end)
                let ending = try client.client.json()
                #expect(ending["id"] == 4 && Self.isWhole(ending), "\(ending.text())")
                #expect(try socket.rest() == Array("abc".utf8))
            }
        }
    }

    enum Ending: CaseIterable { case loss, lock, rule, close }

    @Test("a response that is cut off ends its socket, and never looks complete", arguments: Ending.allCases)
    func endings(ending: Ending) async throws {
        let download = ScriptedDownload()
        try await BodySocketRequestTests.play(downloads: [download]) { rig, _ in
            _ = try await rig.lock.setPassphrase(AgentPassphrase(passphrase: "correct horse battery"))
            try await onThread {
                let client = try Download(try rig.dial())
                let socket = try #require(try client.socket().end)
                download.order(.bytes(Array("abc".utf8)))
                while download.passed < 3 { rig.turn() }
                switch ending {
                case .loss: download.order(.loss)
                case .lock: #expect(try rig.dial().ask("agent.lock")["result"]?["locked"] == true)
                case .rule:
                    let rule = AccessControlTests.rule("no-calls") { $0.request.classes = [.act] }
                    rig.access.change { $0 = AccessControlTests.policy(rule) }
                case .close:
                    #expect(try client.client.ask("api.close", ["stream": "s"], id: 4)["result"] != nil)
                }
                // What the kernel has is not lost.
                #expect(try socket.rest() == ScriptedDownload.head + Array("abc".utf8))
                let answer = try client.ending()
                let kinds: [Ending: String] = [
                    .loss: "provider_unreachable", .lock: "agent_locked", .rule: "denied", .close: "not_found",
                ]
                #expect(answer["result"] == nil && answer.errorKind == kinds[ending], "\(answer.text())")
                rig.turn()
                #expect(rig.counters.openBodySockets == 0)
            }
        }
    }

    @Test("the end of the client's connection closes the socket")
    func disconnected() async throws {
        let download = ScriptedDownload()
        try await BodySocketRequestTests.play(downloads: [download]) { rig, _ in
            try await onThread {
                var client: Download? = try Download(try rig.dial())
                let socket = try #require(try client?.socket().end)
                #expect(try socket.bytes() == ScriptedDownload.head)
                client = nil
                #expect(try socket.rest().isEmpty)
                try BadClientTests.until(try rig.dial()) { rig.counters.openBodySockets == 0 }
            }
        }
    }

    @Test("a response that was written completely counts until the client has read it, or has closed its end")
    func complete() async throws {
        let downloads = [ScriptedDownload(), ScriptedDownload()]
        var limits = ConnectionLimits()
        limits.bodySockets = 1
        try await BodySocketRequestTests.play(downloads: downloads, limits: limits) { rig, _ in
            try await onThread {
                for download in downloads { download.order(.bytes([1]), .end) }
                let (first, second) = (try Download(try rig.dial()), try Download(try rig.dial()))
                var unread = try first.socket().end
                #expect(Self.isWhole(try first.ending()))
                #expect(try second.socket().answer.errorKind == "busy")
                #expect(rig.counters.openBodySockets == 1 && unread != nil)
                unread = nil
                try BadClientTests.until(first.client) { rig.counters.openBodySockets == 0 }
                #expect(try second.socket().end != nil)
            }
        }
    }

    @Test("a client that does not read stops the provider, and delays no other client")
    func unread() async throws {
        let download = ScriptedDownload()
        let room = 16 << 10
        var limits = ConnectionLimits()
        limits.bodySocketBytes = room
        let (piece, count) = ([UInt8](repeating: 7, count: 8 << 10), 256)
        try await BodySocketRequestTests.play(downloads: [download], limits: limits) { rig, _ in
            try await onThread {
                let client = try Download(try rig.dial())
                let socket = try #require(try client.socket().end)
                for _ in 1...count { download.order(.bytes(piece)) }
                download.order(.end)
                while !download.isWaiting { rig.turn() }
                #expect(try rig.dial().ask("agent.ping")["result"] != nil)
                #expect(try client.client.ask("agent.ping", id: 5)["result"] != nil)
                // What the kernel holds, and what came before the agent had the socket.
                #expect(download.passed <= 3 * room + 2 * Limits.pieceBytes, "\(download.passed)")
                #expect(try socket.rest().count == ScriptedDownload.head.count + count * piece.count)
                #expect(Self.isWhole(try client.ending()))
            }
        }
    }

    @Test("a client that closes its end early ends the stream")
    func left() async throws {
        let download = ScriptedDownload()
        try await BodySocketRequestTests.play(downloads: [download]) { rig, _ in
            try await onThread {
                let client = try Download(try rig.dial())
                var socket = try client.socket().end
                #expect(try socket?.bytes() == ScriptedDownload.head)
                // The agent has closed its copy of this end.
                rig.turn()
                socket = nil
                download.order(.bytes([1]))
                let answer = try client.ending()
                #expect(answer.errorCause == "no_stream", "\(answer.text())")
                rig.turn()
                #expect(rig.counters.openBodySockets == 0)
            }
        }
    }

    @Test("no socket is given in a batch, for a notification, twice, for another stream, or without a response")
    func refusals() async throws {
        let download = ScriptedDownload()
        try await BodySocketRequestTests.play(downloads: [download]) { rig, _ in
            try await onThread {
                let client = try Download(try rig.dial())
                try client.client.send("[" + Download.request(id: 4).dropLast() + "]\n")
                let (batch, inBatch) = try client.client.jsonAndDescriptor()
                #expect(batch.arrayValue?.first?.errorCode == -32602 && inBatch == nil, "\(batch.text())")
                try client.client.send(Download.request(id: nil) + RawClient.request("agent.ping", id: 5))
                let (ping, silent) = try client.client.jsonAndDescriptor()
                #expect(ping["id"] == 5 && silent == nil, "\(ping.text())")
                let nobody = try client.socket("nobody")
                #expect(nobody.answer.errorCause == "no_stream" && nobody.end == nil)
                let upload = try BodySocketRequestTests.Upload(try rig.dial())
                try upload.client.send(Download.request(id: 6))
                let (written, none) = try upload.client.jsonAndDescriptor()
                #expect(written.errorCode == -32602 && none == nil, "\(written.text())")
                rig.turn()
                #expect(rig.counters.bodySockets == 0 && rig.counters.openBodySockets == 0)
                // The stream is as before.
                let socket = try #require(try client.socket().end)
                let second = try client.socket()
                #expect(second.answer.errorKind == "busy" && second.end == nil, "\(second.answer.text())")
                download.order(.end)
                #expect(try socket.rest() == ScriptedDownload.head)
                #expect(Self.isWhole(try client.ending()))
            }
        }
    }

    @Test("if the agent has no more sockets, a response is read in pieces")
    func limited() async throws {
        let downloads = [ScriptedDownload(), ScriptedDownload()]
        var limits = ConnectionLimits()
        limits.bodySockets = 1
        try await BodySocketRequestTests.play(downloads: downloads, limits: limits) { rig, _ in
            try await onThread {
                let first = try Download(try rig.dial())
                let socket = try #require(try first.socket().end)
                let second = try Download(try rig.dial())
                let (answer, none) = try second.socket()
                #expect(answer.errorKind == "busy" && none == nil, "\(answer.text())")
                downloads[1].order(.end)
                #expect(try second.ending()["result"]?["body_base64"] == "aGVhZA==")
                downloads[0].order(.end)
                #expect(try socket.rest() == ScriptedDownload.head)
                #expect(Self.isWhole(try first.ending()))
                rig.turn()
                #expect(rig.counters.openBodySockets == 0)
            }
        }
    }
}

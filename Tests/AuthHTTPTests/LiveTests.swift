import AuthHTTP
import AuthModel
import Synchronization
import Testing

@Suite("Responses that are read while they arrive")
struct LiveTests {
    /// Keeps what it receives, and calls back.
    private final class Receiver: HTTPLiveReceiver {
        let heads = Mutex<[HTTPResponse]>([])
        let text = Mutex("")
        let pieces: AsyncStream<Void>
        private let arrived: AsyncStream<Void>.Continuation

        init() {
            (pieces, arrived) = AsyncStream.makeStream()
        }

        func begin(_ head: HTTPResponse) async { heads.withLock { $0.append(head) } }

        func receive(_ piece: [UInt8]) async {
            text.withLock { $0 += String(decoding: piece, as: UTF8.self) }
            arrived.yield()
        }
    }

    private static let limit = Duration.seconds(30)

    @Test("each part is passed on before the next one is sent")
    func parts() async throws {
        let receiver = Receiver()
        let script: LoopbackServer.Script = { connection in
            _ = await connection.request()
            try await connection.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n")
            for await _ in receiver.pieces { break }
            try await connection.write("data: 2\n\n")
        }
        try await LoopbackServer.with(script: script) { server in
            try await withTransport { transport in
                let request = HTTPRequest(method: "POST", url: server.url + "/mcp", body: Secret("{}"))
                try await transport.stream(request, limit: Self.limit, to: receiver)
                #expect(receiver.text.withLock { $0 } == "data: 1\n\ndata: 2\n\n")
                let head = try #require(receiver.heads.withLock { $0 }.first)
                #expect(head.status == 200 && head.header("content-type") == "text/event-stream")
                #expect(server.requests.first?.body == "{}" && server.requests.first?.header("accept-encoding") == nil)
            }
        }
    }

    @Test("any status is a response, no redirect is followed, and nothing is decompressed")
    func asSent() async throws {
        let body = try await gzip(Array("plain words".utf8))
        let script: LoopbackServer.Script = { connection in
            while await connection.request() != nil {
                try await connection.write(
                    "HTTP/1.1 307 X\r\nLocation: /next\r\nContent-Encoding: gzip\r\nContent-Length: \(body.count)\r\n\r\n"
                )
                try await connection.write(body)
            }
        }
        try await LoopbackServer.with(script: script) { server in
            try await withTransport { transport in
                let receiver = Receiver()
                try await transport.stream(
                    HTTPRequest(method: "GET", url: server.url), limit: Self.limit, to: receiver)
                #expect(receiver.heads.withLock { $0 }.map(\.status) == [307])
                #expect(receiver.text.withLock { $0 } == String(decoding: body, as: UTF8.self))
                #expect(server.requests.count == 1)
            }
        }
    }

    @Test("a response that does not begin, and one that does not end")
    func broken() async throws {
        let script: LoopbackServer.Script = { connection in
            let request = await connection.request()
            if request?.target == "/half" {
                return try await connection.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
            }
            await connection.silence()
        }
        try await LoopbackServer.with(script: script) { server in
            try await withTransport { transport in
                let receiver = Receiver()
                await #expect(throws: TransportError.timedOut(host: "127.0.0.1", after: .milliseconds(100))) {
                    try await transport.stream(
                        HTTPRequest(method: "GET", url: server.url + "/silent"), limit: .milliseconds(100), to: receiver
                    )
                }
                #expect(receiver.heads.withLock { $0 }.isEmpty)
                await #expect(throws: TransportError.self) {
                    try await transport.stream(
                        HTTPRequest(method: "GET", url: server.url + "/half"), limit: Self.limit, to: receiver)
                }
                #expect(receiver.text.withLock { $0 } == "half")
            }
        }
    }

    @Test("the end of the task closes the connection")
    func cancelled() async throws {
        let receiver = Receiver()
        let script: LoopbackServer.Script = { connection in
            _ = await connection.request()
            try await connection.write("HTTP/1.1 200 OK\r\n\r\nhello")
            // Until the other side closes the connection.
            await connection.silence()
        }
        try await LoopbackServer.with(script: script) { server in
            try await withTransport { transport in
                await withTaskGroup(of: Void.self) { group in
                    group.addTask {
                        await #expect(throws: TransportError.cancelled) {
                            try await transport.stream(
                                HTTPRequest(method: "GET", url: server.url), limit: Self.limit, to: receiver)
                        }
                    }
                    for await _ in receiver.pieces { break }
                    group.cancelAll()
                }
            }
        }
    }
}

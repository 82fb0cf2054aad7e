import AuthHTTP
import AuthModel
import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

/// A server that answers before it has the whole body, as it may (RFC 9112 §9.5, RFC 9110 §10.1.1).
@Suite("Bodies that are sent while they arrive", .timeLimit(.minutes(1)))
struct RelayTests {
    @Test(
        "a refusal is passed on whole, although the client sends on",
        arguments: [
            ("Content-Length: 2", "", "no"), ("Content-Length: 2", "n", "o"), ("Content-Length: 0", "", ""),
            ("Transfer-Encoding: chunked", "2\r\nno\r\n", "0\r\n\r\n"), ("Connection: close", "no", ""),
        ], [false, true])
    func refused(response: (field: String, first: String, last: String), hasLength: Bool) async throws {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let script: LoopbackServer.Script = { connection in
            _ = await connection.bytes()
            try await connection.write("HTTP/1.1 401 No\r\n\(response.field)\r\n\r\n\(response.first)")
            for await _ in ends { break }
            try await connection.write(response.last)
        }
        try await LoopbackServer.with(script: script) { server in
            try await withUpload(to: server, length: hasLength ? 300_000 : nil) { upload in
                try await upload.write(100_000)
                #expect(await upload.next() == .began(401))
                if response.first.isEmpty == false { #expect(await upload.next()?.isPiece == true) }
                // Whatever a client still sends is accepted: it may read the response after that only.
                try await upload.write(100_000)
                try await upload.write(100_000)
                upload.end()
                end.yield()
                var event = await upload.next()
                while event?.isPiece == true { event = await upload.next() }
                #expect(event == .ended(nil))
                #expect(upload.text == (response.field == "Content-Length: 0" ? "" : "no"))
            }
        }
    }

    @Test("a server that has answered with 200 still gets the rest")
    func answered() async throws {
        let (ends, end) = AsyncStream.makeStream(of: Int.self)
        let script: LoopbackServer.Script = { connection in
            try await connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            var text = ""
            while !text.hasSuffix("\r\n0\r\n\r\n"), let bytes = await connection.bytes() {
                text += String(decoding: bytes, as: UTF8.self)
            }
            end.yield(text.count { $0 == "x" })
        }
        try await LoopbackServer.with(script: script) { server in
            try await withUpload(to: server, length: nil) { upload in
                try await upload.write(10)
                #expect(await upload.next() == .began(200))
                #expect(await upload.next() == .continued("ok"))
                try await upload.write(20)
                upload.end()
                #expect(await ends.first { _ in true } == 30)
                #expect(await upload.next() == .ended(nil))
            }
        }
    }

    @Test("a server that leaves after a 200 does not hold up the client", arguments: [nil, 100_000_000])
    func left(length: Int?) async throws {
        let script: LoopbackServer.Script = { connection in
            _ = await connection.bytes()
            try await connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
        try await LoopbackServer.with(script: script) { server in
            try await withUpload(to: server, length: length) { upload in
                try await upload.write(10)
                #expect(await upload.next() == .began(200))
                #expect(await upload.next() == .continued("ok"))
                // The system may accept some of it before it knows.
                for _ in 0..<50 { try await upload.write(1_000_000) }
                upload.end()
                // Its response was whole.
                #expect(await upload.next() == .ended(nil))
            }
        }
    }

    @Test("an upload that is abandoned ends the request, even before the connection")
    func abandoned() async throws {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let script: LoopbackServer.Script = { connection in
            while await connection.bytes() != nil {}
            end.yield()
        }
        try await LoopbackServer.with(script: script) { server in
            try await withUpload(to: server, length: 100) { upload in
                try await upload.write(10)
                upload.abandon()
                #expect(await upload.next() == .ended(.cancelled))
                #expect(await ends.first { _ in true } != nil)
            }
            try await withUpload(to: server, length: 100) { upload in
                upload.abandon()
                #expect(await upload.next() == .ended(.cancelled))
            }
        }
    }

    /// What the server had of it never gets a valid end, or the server could take it for the whole.
    @Test("a refused body never gets a valid end", arguments: 1...20)
    func noEnd(_: Int) async throws {
        let (bodies, body) = AsyncStream.makeStream(of: [UInt8].self)
        let script: LoopbackServer.Script = { connection in
            var received = await connection.bytes() ?? []
            try await connection.write("HTTP/1.1 413 No\r\nTransfer-Encoding: chunked\r\n\r\n")
            try await connection.write("2\r\nno\r\n")
            try await connection.write("0\r\n\r\n")
            while let bytes = await connection.bytes() { received += bytes }
            body.yield(received)
        }
        try await LoopbackServer.with(script: script) { server in
            try await withUpload(to: server, length: nil) { upload in
                async let sent: Void = {
                    for _ in 0..<20 { try await upload.write(1000) }
                    upload.end()
                }()
                var event = await upload.next()
                while case .began = event { event = await upload.next() }
                while event?.isPiece == true { event = await upload.next() }
                try await sent
                let received = try #require(await bodies.first { _ in true })
                let isWhole = received.count { $0 == UInt8(ascii: "x") } == 20_000
                #expect(isWhole || !received.suffix(5).elementsEqual("0\r\n\r\n".utf8))
                #expect(event == .ended(nil) && upload.text == "no")
            }
        }
    }

    // MARK: - Through a proxy

    @Test("an upload through a proxy", arguments: ["http://ada:p%40ss@", "socks5h://"])
    func proxied(scheme: String) async throws {
        let authority = try await ThrowawayAuthority()
        let tls = try await authority.server(names: "DNS:api.test")
        let script = scheme.hasPrefix("http") ? ConnectProxy.script(password: "YWRhOnBAc3M=") : ConnectProxy.socks
        try await LoopbackServer.with(script: script) { proxy in
            try await LoopbackServer.with(tls: tls) { server in
                let configuration = AsyncHTTPTransport.Configuration(
                    version: "1.2.3", proxy: "\(scheme)127.0.0.1:\(proxy.port)", extraCAFile: authority.file)
                try await withUpload(
                    to: "https://api.test:\(server.port)/up", length: 200_000, by: configuration
                ) { upload in
                    try await upload.write(100_000)
                    try await upload.write(100_000)
                    upload.end()
                    #expect(await upload.next() == .began(200))
                    #expect(await upload.next() == .continued("{}"))
                    #expect(await upload.next() == .ended(nil))
                    #expect(server.requests.first?.body.utf8.count == 200_000)
                    #expect(server.requests.first?.target == "/up")
                    #expect(server.requests.first?.header("host") == "api.test:\(server.port)")
                    #expect(server.requests.first?.header("proxy-authorization") == nil)
                }
            }
        }
    }

    @Test("a proxy that refuses, disconnects or stays silent is reported as the cause")
    func refusedByProxy() async throws {
        let scripts: [(String, LoopbackServer.Script)] = [
            ("http", { try await $0.answerAll("HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n") }),
            ("http", { try await $0.answerAll("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n") }),
            ("http", { _ = await $0.request() }), ("http", { await $0.silence() }),
            (
                "http",
                { connection in
                    try await connection.write([5, 0, 13, 10, 13, 10])
                    await connection.silence()
                }
            ),
            ("socks5h", { _ = await $0.bytes() }), ("socks5h", { await $0.silence() }),
            (
                "socks5h",
                { connection in
                    _ = await connection.bytes()
                    try await connection.write([5, 255])
                    await connection.silence()
                }
            ),
        ]
        for (scheme, script) in scripts {
            try await LoopbackServer.with(script: script) { proxy in
                var configuration = AsyncHTTPTransport.Configuration(
                    version: "1.2.3", proxy: "\(scheme)://127.0.0.1:\(proxy.port)")
                configuration.limits.connect = .milliseconds(300)
                try await withUpload(to: "https://api.test/", length: 10, by: configuration) { upload in
                    let event = await upload.next()
                    guard case .ended(.proxy) = event else {
                        Issue.record("\(String(describing: event))")
                        return
                    }
                }
            }
        }
    }
}

/// The client's side of a request in progress.
// @unchecked Sendable: `upload` and `relay` are used on the event loop only, the iterator and `text` by the test's task only. The
// rest does not change.
private final class Upload: RelayReceiver, @unchecked Sendable {
    enum Event: Equatable {
        case began(Int)
        case continued(String)
        case ended(TransportError?)

        var isPiece: Bool { if case .continued = self { true } else { false } }
    }

    private let loop: any EventLoop
    private let upload: RelayUpload
    private var relay: Relay?
    private let events: AsyncStream<Event>.Continuation
    private var iterator: AsyncStream<Event>.Iterator
    private(set) var text = ""

    /// On `loop`.
    init(_ loop: any EventLoop, length: Int?) {
        self.loop = loop
        upload = RelayUpload(length: length, on: loop)
        let (stream, events) = AsyncStream.makeStream(of: Event.self)
        self.events = events
        iterator = stream.makeAsyncIterator()
    }

    func begin(_ transport: AsyncHTTPTransport, _ url: String) throws {
        let request = RelayRequest(method: "POST", url: url, fields: [], body: .pieces(upload))
        relay = try transport.relay(request, on: loop, to: self)
    }

    func write(_ count: Int) async throws {
        try await loop.flatSubmit { self.upload.write(ByteBuffer(repeating: UInt8(ascii: "x"), count: count)) }.get()
    }

    func end() { loop.execute { self.upload.end() } }

    func abandon() {
        loop.execute {
            self.upload.abandon()
            self.relay?.cancel()
        }
    }

    func next() async -> Event? {
        let event = await iterator.next()
        if case .continued(let piece) = event { text += piece }
        return event
    }

    func responseBegan(_ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        events.yield(.began(Int(head.status.code)))
        return loop.makeSucceededVoidFuture()
    }

    func responseContinued(_ piece: ByteBuffer) -> EventLoopFuture<Void> {
        events.yield(.continued(String(buffer: piece)))
        return loop.makeSucceededVoidFuture()
    }

    func responseEnded(_ failure: TransportError?) { events.yield(.ended(failure)) }
}

private func withUpload(
    to server: LoopbackServer, length: Int?, _ body: (Upload) async throws -> Void
) async throws {
    try await withUpload(to: server.url + "/", length: length, body)
}

private func withUpload(
    to url: String, length: Int?, by configuration: AsyncHTTPTransport.Configuration = .init(version: "1.2.3"),
    _ body: (Upload) async throws -> Void
) async throws {
    try await withTransport(configuration) { transport in
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        let upload = try await loop.submit {
            let upload = Upload(loop, length: length)
            try upload.begin(transport, url)
            return upload
        }.get()
        try await body(upload)
        upload.abandon()
    }
}

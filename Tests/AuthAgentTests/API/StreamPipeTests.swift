import AgentTestSupport
import AuthModel
import AuthWire
import Synchronization
import Testing

@testable import AuthAgent

@Suite("The pipes of streamed calls")
struct StreamPipeTests {
    private static func upload(size: Int? = nil, once: Bool = false) -> UploadPipe {
        UploadPipe(BodyStream(size: size, once: once), clock: ManualClock())
    }

    private static func piece(_ text: String, at offset: Int, last: Bool = false) -> APIWrite {
        APIWrite(stream: "s", offset: offset, bytes: Array(text.utf8), isLast: last)
    }

    @Test("pieces arrive in order, and a reader sees the end")
    func order() async throws {
        let pipe = Self.upload()
        let reading = pipe.begin()
        async let written: [StreamTaken] = [
            pipe.write(Self.piece("ab", at: 0)), pipe.write(Self.piece("cd", at: 2)),
            pipe.write(Self.piece("e", at: 4, last: true)),
        ]
        var bytes: [UInt8] = []
        while let piece = try await reading.nextBytes() { bytes += piece }
        #expect(String(decoding: bytes, as: UTF8.self) == "abcde")
        pipe.finish(.done)
        let taken = try await written
        #expect(taken == [StreamTaken(next: 2), StreamTaken(next: 4), StreamTaken(next: 5, done: true)])
    }

    @Test("a second reading asks the waiting writer of the last piece for the start, and ends the first reading")
    func again() async throws {
        let pipe = Self.upload()
        let first = pipe.begin()
        async let last = pipe.write(Self.piece("xyz", at: 0))
        _ = try await first.nextBytes()
        #expect(try await last == StreamTaken(next: 3))
        async let end = pipe.write(Self.piece("!", at: 3, last: true))
        while try await first.nextBytes() != nil {}
        let second = pipe.begin()
        #expect(try await end == StreamTaken(next: 0))
        await #expect(throws: TransportError.cancelled) { _ = try await first.nextBytes() }
        async let whole = pipe.write(Self.piece("xyz!", at: 0, last: true))
        #expect(try await second.nextBytes() == Array("xyz!".utf8))
        #expect(try await second.nextBytes() == nil)
        pipe.finish(.done)
        #expect(try await whole == StreamTaken(next: 4, done: true))
    }

    @Test("a write, a read and both transport's sides end when they are cancelled, and others may come in their place")
    func cancelled() async throws {
        let (up, down) = (Self.upload(), DownloadPipe(clock: ManualClock()))
        let first = try await up.write(Self.piece("ab", at: 0))
        let write = Task { try await up.write(Self.piece("cd", at: 2)) }
        write.cancel()
        await #expect(throws: AgentError.callerGone) { _ = try await write.value }
        let reading = up.begin()
        #expect(try await reading.nextBytes() == Array("ab".utf8))
        let next = Task { try await reading.nextBytes() }
        next.cancel()
        await #expect(throws: TransportError.cancelled) { _ = try await next.value }
        #expect(up.idleSince == nil)
        #expect(try await up.write(Self.piece("cd", at: first.next)) == StreamTaken(next: 4))

        let read = Task { try await down.read() }
        read.cancel()
        await #expect(throws: AgentError.callerGone) { _ = try await read.value }
        #expect(down.hold([UInt8](repeating: 1, count: 3 * Limits.pieceBytes)))
        let receive = Task { try await down.receive([2]) }
        receive.cancel()
        await #expect(throws: TransportError.cancelled) { try await receive.value }
        #expect(try await down.read().bytes.count == 3 * Limits.pieceBytes)
    }

    @Test("of two writes at the same time one waits, and the other is refused", .timeLimit(.minutes(1)))
    func twoWrites() async throws {
        for _ in 1...1000 {
            let pipe = Self.upload()
            let reading = pipe.begin()
            #expect(try await pipe.write(Self.piece("ab", at: 0)) == StreamTaken(next: 2))
            try await withThrowingTaskGroup(of: Result<StreamTaken, AgentError>.self) { group in
                for _ in 1...2 {
                    group.addTask {
                        do throws(AgentError) {
                            return .success(try await pipe.write(Self.piece("cd", at: 2)))
                        } catch {
                            return .failure(error)
                        }
                    }
                }
                let refused = try await group.next()
                guard case .failure(let error)? = refused, error.kind == .busy else {
                    group.cancelAll()
                    Issue.record("\(String(describing: refused))")
                    return
                }
                #expect(try await reading.nextBytes() == Array("ab".utf8))
                #expect(try await group.next() == .success(StreamTaken(next: 4)))
            }
        }
    }

    @Test("a piece that was written before a read is not requested twice")
    func early() async throws {
        let pipe = Self.upload(once: true)
        #expect(pipe.mayRepeat)
        #expect(try await pipe.write(Self.piece("ab", at: 0)) == StreamTaken(next: 2))
        #expect(!pipe.mayRepeat)
        let reading = pipe.begin()
        #expect(try await reading.nextBytes() == Array("ab".utf8))
    }

    @Test("what is written after an attempt has ended is sent with the next attempt")
    func rewound() async throws {
        let pipe = Self.upload(once: true)
        let first = pipe.begin()
        async let waits = #expect(throws: TransportError.cancelled) { _ = try await first.nextBytes() }
        while pipe.idleSince == nil { await Task.yield() }
        #expect(pipe.rewind() && pipe.idleSince == nil)
        _ = await waits
        #expect(try await pipe.write(Self.piece("ab", at: 0)) == StreamTaken(next: 2))
        let second = pipe.begin()
        #expect(try await second.nextBytes() == Array("ab".utf8))
        #expect(!pipe.rewind())
        #expect(try await pipe.write(Self.piece("cd", at: 2)) == StreamTaken(next: 4))
        #expect(try await second.nextBytes() == Array("cd".utf8))
    }

    @Test("a piece from elsewhere is not taken, and one beyond the announced size is refused")
    func wrong() async throws {
        let pipe = Self.upload(size: 3)
        _ = pipe.begin()
        #expect(try await pipe.write(Self.piece("zz", at: 7)) == StreamTaken(next: 0))
        for piece in [Self.piece("abcd", at: 0), Self.piece("ab", at: 0, last: true)] {
            await #expect(throws: AgentError.self) { _ = try await pipe.write(piece) }
        }
    }

    @Test("a streamed call that fails because the agent has cancelled it says that the agent stops")
    func stopping() async throws {
        let causes = Mutex<[String?]>([])
        let stream = try APIStream(
            name: "s", body: BodyStream(size: nil, once: false), answer: .whole, clock: ManualClock()
        ) { result in
            if case .failure(let error) = result { causes.withLock { $0.append(error.cause) } }
        }
        await withTaskGroup(of: Void.self) { group in
            group.cancelAll()
            group.addTask { await stream.finish(.failure(.callerGone), nil) }
        }
        #expect(causes.withLock { $0 } == ["stopping"])
    }

    @Test("a stream that was closed lets go of everybody who waits")
    func closed() async throws {
        let pipe = Self.upload()
        let reading = pipe.begin()
        async let waits = #expect(throws: TransportError.cancelled) { _ = try await reading.nextBytes() }
        pipe.finish(.failed(.streamClosed))
        _ = await waits
        let error = await #expect(throws: AgentError.self) { _ = try await pipe.write(Self.piece("a", at: 0)) }
        #expect(error?.cause == "stream_closed")
    }

    @Test("a response that fails in the middle returns the received bytes, then the failure, once")
    func broken() async throws {
        let pipe = DownloadPipe(clock: ManualClock())
        try await pipe.receive([1, 2])
        pipe.end(.streamClosed)
        #expect(try await pipe.read() == StreamPiece(bytes: [1, 2], isLast: false))
        let first = await #expect(throws: AgentError.self) { _ = try await pipe.read() }
        let second = await #expect(throws: AgentError.self) { _ = try await pipe.read() }
        #expect(first?.cause == "stream_closed" && second?.cause == "no_stream")
        await pipe.drained()
    }

    @Test("a transport waits while a client does not read, and a client that has gone ends it")
    func slowReader() async throws {
        let clock = ManualClock()
        let pipe = DownloadPipe(clock: clock)
        #expect(pipe.hold([UInt8](repeating: 7, count: 3 * Limits.pieceBytes)))
        async let writes = #expect(throws: TransportError.cancelled) { try await pipe.receive([8]) }
        while pipe.idleSince == nil { await Task.yield() }
        #expect(pipe.idleSince == clock.now().boot)
        pipe.abandon()
        _ = await writes
    }

    @Test("a 401 to the whole body, with a transport that reads it all, sends it twice and answers once")
    func wholeBodyTwice() async throws {
        let bodies = Mutex<[String]>([])
        let tokens = ExampleProvider.numbering()
        let transport = ScriptedTransport { request async throws(TransportError) in
            guard let source = request.source else { return try await tokens.send(request) }
            let reading = source.begin()
            var bytes: [UInt8] = []
            while let piece = try await reading.nextBytes() { bytes += piece }
            let count = bodies.withLock { bodies in
                bodies.append(String(decoding: bytes, as: UTF8.self))
                return bodies.count
            }
            return ExampleProvider.json(count == 1 ? 401 : 200, #"{"message":"said"}"#)
        }
        let example = try ExampleProvider(transport: transport)
        try await example.running { _, signIns in
            _ = try await signIns.start(
                LoginStart(provider: "example", fields: ["email": "a@b.example", "password": "pw"]))
            // Old enough for its age to be what is wrong with it.
            example.clock.advance(.seconds(400))
            let answers = AsyncStream<Result<APIResponse, AgentError>>.makeStream()
            let params = APIRequest(
                method: "POST", path: "/file", bodyStream: BodyStream(size: 6), stream: "s")
            let api = example.apiClient
            let stream = try api.stream(for: params) { answers.continuation.yield($0) }
            async let life: Void = api.carry(params, by: stream)
            var next = 0
            while true {
                let text = String("abcdef".dropFirst(next).prefix(3))
                let taken = try await stream.write(Self.piece(text, at: next, last: next + text.count == 6))
                if taken.done { break }
                next = taken.next
            }
            await life
            answers.continuation.finish()
            var said: [APIResponse] = []
            for await answer in answers.stream { said.append(try answer.get()) }
            #expect(said.map(\.status) == [200])
            #expect(bodies.withLock { $0 } == ["abcdef", "abcdef"])
        }
    }

    @Test(
        "after a 401, a body that can be sent only once is sent if none of it was accepted; otherwise the call fails",
        arguments: [false, true])
    func onceRefused(isAccepted: Bool) async throws {
        let bodies = Mutex<[String]>([])
        let current = Mutex<APIStream?>(nil)
        let written = AsyncStream<Void>.makeStream()
        let tokens = ExampleProvider.numbering()
        let transport = ScriptedTransport { request async throws(TransportError) in
            guard let source = request.source else {
                // The client begins to send during the renewal.
                if !isAccepted, let stream = current.withLock({ $0 }) {
                    _ = try? await stream.write(Self.piece("abc", at: 0))
                    written.continuation.yield()
                }
                return try await tokens.send(request)
            }
            let reading = source.begin()
            let isFirst = bodies.withLock { $0.isEmpty }
            var bytes: [UInt8] = []
            if isFirst {
                if isAccepted { bytes = try await reading.nextBytes() ?? [] }
            } else {
                while let piece = try await reading.nextBytes() { bytes += piece }
            }
            bodies.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) }
            return ExampleProvider.json(isFirst ? 401 : 200, #"{"message":"said"}"#)
        }
        let example = try ExampleProvider(transport: transport)
        try await example.running { _, signIns in
            _ = try await signIns.start(
                LoginStart(provider: "example", fields: ["email": "a@b.example", "password": "pw"]))
            // Old enough for its age to be what is wrong with it.
            example.clock.advance(.seconds(400))
            let answers = AsyncStream<Result<APIResponse, AgentError>>.makeStream()
            let params = APIRequest(method: "POST", path: "/file", bodyStream: BodyStream(once: true), stream: "s")
            let api = example.apiClient
            let stream = try api.stream(for: params) { answers.continuation.yield($0) }
            current.withLock { $0 = stream }
            if isAccepted { #expect(try await stream.write(Self.piece("abc", at: 0)) == StreamTaken(next: 3)) }
            async let life: Void = api.carry(params, by: stream)
            if !isAccepted {
                for await _ in written.stream { break }
                let end = try await stream.write(Self.piece("def", at: 3, last: true))
                #expect(end == StreamTaken(next: 6, done: true))
                // Without the beginning, the call would wait for it.
                if !end.done { stream.close(.streamClosed) }
            }
            await life
            answers.continuation.finish()
            for await answer in answers.stream {
                switch answer {
                case .success(let response): #expect(!isAccepted && response.status == 200)
                case .failure(let error): #expect(isAccepted && error.kind == .refused && error.cause == "body_once")
                }
            }
            #expect(bodies.withLock { $0 } == (isAccepted ? ["abc"] : ["", "abcdef"]))
        }
    }
}

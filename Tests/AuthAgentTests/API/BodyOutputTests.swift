import AgentTestSupport
import AuthModel
import AuthWire
import Synchronization
import Testing

@testable import AuthAgent

@Suite("Responses in sockets", .timeLimit(.minutes(1)))
struct BodyOutputTests {
    private static let clock = ManualClock()
    private static let end = StreamPiece(bytes: [], isLast: true)

    private static func download() -> DownloadPipe { DownloadPipe(clock: clock) }

    private static func pass(_ text: String, to pipe: DownloadPipe) -> Int {
        Array(text.utf8).withUnsafeBytes { pipe.pass($0) }
    }

    @Test("a socket carries what follows earlier pieces, and a read after it gets the end")
    func order() async throws {
        let (pipe, output) = (Self.download(), FakeOutput())
        #expect(Self.pass("ab", to: pipe) == 0)
        #expect(pipe.hold(Array("ab".utf8)))
        #expect(try await pipe.read() == StreamPiece(bytes: Array("ab".utf8), isLast: false))
        #expect(pipe.hold(Array("cd".utf8)))
        try pipe.requireSocketAllowed()
        pipe.write(to: output)
        #expect(output.text == "cd")
        async let end = pipe.read()
        try await pipe.receive(Array("ef".utf8))
        #expect(Self.pass("gh", to: pipe) == 2)
        #expect(output.text == "cdefgh" && !output.isClosed)
        pipe.end()
        #expect(output.isClosed)
        #expect(try await end == Self.end)
        await pipe.drained()
        let error = await #expect(throws: AgentError.self) { _ = try await pipe.read() }
        #expect(error?.cause == "no_stream")
    }

    @Test("a response that fails in the middle closes the socket after the received bytes, and a read gets the failure")
    func broken() async throws {
        let (pipe, output) = (Self.download(), FakeOutput(room: 1))
        pipe.write(to: output)
        #expect(pipe.hold([1, 2]))
        pipe.end(.streamClosed)
        #expect(output.bytes == [1] && !output.isClosed)
        async let failure = #expect(throws: AgentError.self) { _ = try await pipe.read() }
        output.makeRoom(1)
        #expect(output.bytes == [1, 2] && output.isClosed)
        #expect(await failure?.cause == "stream_closed")
        await pipe.drained()
    }

    @Test("while the socket is full, the transport waits with one piece, and continues once the client has read")
    func slowReader() async throws {
        let (pipe, output) = (Self.download(), FakeOutput(room: 3))
        pipe.write(to: output)
        #expect(Self.pass("ab", to: pipe) == 2)
        #expect(Self.pass("cd", to: pipe) == 1)
        async let received: Void = pipe.receive(Array("d".utf8))
        while pipe.idleSince == nil { await Task.yield() }
        #expect(pipe.idleSince == Self.clock.now().boot)
        // Nothing overtakes what is held.
        #expect(Self.pass("x", to: pipe) == 0)
        await output.isWaitedFor()
        output.makeRoom(3)
        try await received
        #expect(pipe.idleSince == nil && output.text == "abcd")
        pipe.end()
        #expect(output.isClosed)
    }

    @Test("a transport that waits for a client without a socket writes to the socket as soon as there is one")
    func replaced() async throws {
        let (pipe, output) = (Self.download(), FakeOutput(room: 4 * Limits.pieceBytes))
        #expect(pipe.hold([UInt8](repeating: 7, count: 3 * Limits.pieceBytes)))
        async let received: Void = pipe.receive([8])
        while pipe.idleSince == nil { await Task.yield() }
        pipe.write(to: output)
        try await received
        #expect(output.bytes.count == 3 * Limits.pieceBytes + 1)
    }

    @Test(
        "a client that closes its end ends the response, for the transport and for every read",
        arguments: [true, false])
    func closedEarly(isDirect: Bool) async throws {
        let (pipe, output) = (Self.download(), FakeOutput())
        pipe.write(to: output)
        #expect(Self.pass("ab", to: pipe) == 2)
        async let waiting = #expect(throws: AgentError.self) { _ = try await pipe.read() }
        output.close()
        if isDirect { #expect(Self.pass("cd", to: pipe) == 0) }
        await #expect(throws: TransportError.cancelled) { try await pipe.receive(Array("cd".utf8)) }
        #expect(await waiting?.cause == "no_stream")
        pipe.end()
        let later = await #expect(throws: AgentError.self) { _ = try await pipe.read() }
        #expect(later?.cause == "no_stream")
    }

    @Test("a client that closes its end while the transport waits for it ends the wait")
    func closedWhileFull() async throws {
        let (pipe, output) = (Self.download(), FakeOutput(room: 1))
        pipe.write(to: output)
        async let received = #expect(throws: TransportError.cancelled) { try await pipe.receive([1, 2]) }
        await output.isWaitedFor()
        output.close()
        _ = await received
    }

    @Test("a stream that ends closes its socket, drops what is held, and closes a socket that comes later")
    func abandoned() async throws {
        let (pipe, output, late) = (Self.download(), FakeOutput(room: 1), FakeOutput())
        pipe.write(to: output)
        #expect(pipe.hold([1, 2]))
        async let waiting = #expect(throws: AgentError.self) { _ = try await pipe.read() }
        pipe.abandon()
        #expect(output.isClosed && output.bytes == [1])
        #expect(await waiting?.cause == "no_stream")
        pipe.end()
        pipe.write(to: late)
        #expect(late.isClosed && late.bytes.isEmpty)
        let error = #expect(throws: AgentError.self) { try pipe.requireSocketAllowed() }
        #expect(error?.cause == "no_stream")
    }

    @Test(
        "a stream that is ended tells a read that waits why, with a socket and without one", arguments: [true, false])
    func reason(hasSocket: Bool) async throws {
        let stream = try APIStream(name: "s", body: nil, answer: .stream, clock: Self.clock) { _ in }
        if hasSocket { stream.write(to: FakeOutput()) }
        let read = Task { try await stream.read() }
        while (try? stream.requireOutputAllowed()) != nil { await Task.yield() }
        stream.close(.stopping)
        stream.close(.callerGone)
        await #expect(throws: AgentError.stopping) { _ = try await read.value }
    }

    @Test("there is one socket, and none during a read or for a stream that is only written")
    func refusals() async throws {
        let pipe = Self.download()
        try pipe.requireSocketAllowed()
        pipe.write(to: FakeOutput())
        #expect(throws: AgentError.self) { try pipe.requireSocketAllowed() }
        pipe.abandon()

        let other = Self.download()
        async let piece = other.read()
        while (try? other.requireSocketAllowed()) != nil { await Task.yield() }
        let busy = #expect(throws: AgentError.self) { try other.requireSocketAllowed() }
        #expect(busy?.kind == .busy)
        #expect(other.hold([1]))
        #expect(try await piece.bytes == [1])
        try other.requireSocketAllowed()

        let written = try APIStream(name: "s", body: BodyStream(size: 1), answer: .whole, clock: Self.clock) { _ in }
        #expect(throws: AgentError.self) { try written.requireOutputAllowed() }
    }
}

/// A socket in memory, with room for a few bytes that the client has not read.
private final class FakeOutput: BodyOutput {
    private struct State {
        var bytes: [UInt8] = []
        var room: Int
        var isClosed = false
        var notify: (@Sendable () -> Void)?
    }

    private let state: Mutex<State>

    init(room: Int = 1 << 20) { state = Mutex(State(room: room)) }

    /// Everything that was written.
    var bytes: [UInt8] { state.withLock { $0.bytes } }
    var text: String { String(decoding: bytes, as: UTF8.self) }
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Returns when the writer waits for room.
    func isWaitedFor() async {
        while state.withLock({ $0.notify == nil }) { await Task.yield() }
    }

    /// The client reads.
    func makeRoom(_ count: Int) { change { $0.room += count } }

    func write(_ bytes: UnsafeRawBufferPointer) -> Int? {
        state.withLock { state in
            guard !state.isClosed else { return nil }
            let count = min(state.room, bytes.count)
            state.bytes += bytes.prefix(count)
            state.room -= count
            return count
        }
    }

    func whenReady(_ notify: @escaping @Sendable () -> Void) {
        let isReady = state.withLock { state in
            let isReady = state.room > 0 || state.isClosed
            state.notify = isReady ? nil : notify
            return isReady
        }
        if isReady { notify() }
    }

    /// Either end is closed.
    func close() { change { $0.isClosed = true } }

    private func change(_ change: (inout State) -> Void) {
        let notify = state.withLock { state in
            change(&state)
            defer { state.notify = nil }
            return state.notify
        }
        notify?()
    }
}

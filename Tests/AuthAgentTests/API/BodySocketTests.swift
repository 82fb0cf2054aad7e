import AgentTestSupport
import AuthModel
import AuthWire
import Synchronization
import Testing

@testable import AuthAgent

@Suite("Bodies in sockets")
struct BodySocketTests {
    private static func upload(size: Int? = nil) -> UploadPipe {
        UploadPipe(BodyStream(size: size), clock: ManualClock())
    }

    private static func last(at offset: Int) -> APIWrite {
        APIWrite(stream: "s", offset: offset, bytes: [], isLast: true)
    }

    private static func rest(of reading: UploadPipe.Reading) async throws -> String {
        var bytes: [UInt8] = []
        while let piece = try await reading.nextBytes() { bytes += piece }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("a socket carries what follows earlier pieces, and a piece after it waits until the socket has been read")
    func order() async throws {
        let (upload, socket) = (Self.upload(), FakeSocket())
        let start = APIWrite(stream: "s", offset: 0, bytes: Array("ab".utf8))
        #expect(try await upload.write(start) == StreamTaken(next: 2))
        let (taken, isUsed) = try upload.acceptSocket(at: 2) { socket }
        #expect(taken == StreamTaken(next: 2) && isUsed)
        async let end = upload.write(Self.last(at: 8))
        socket.put("cdef")
        let reading = upload.begin()
        async let body = Self.rest(of: reading)
        await socket.isWaitedFor()
        socket.put("gh")
        #expect(try await body == "abcdefgh")
        upload.finish(.done)
        #expect(try await end == StreamTaken(next: 8, done: true))
        #expect(socket.isClosed)
    }

    @Test("a second reading closes the socket, and the writer of the end has to begin again at the start")
    func again() async throws {
        let (upload, first, second) = (Self.upload(size: 4), FakeSocket(), FakeSocket())
        _ = upload.begin()
        #expect(try upload.acceptSocket(at: 0) { first }.isUsed)
        first.put("abcd")
        async let end = upload.write(Self.last(at: 4))
        let reading = upload.begin()
        #expect(first.isClosed)
        #expect(try await end == StreamTaken(next: 0))
        #expect(try !upload.acceptSocket(at: 4) { second }.isUsed)
        #expect(try upload.acceptSocket(at: 0) { second }.isUsed)
        second.put("abcd")
        async let whole = upload.write(Self.last(at: 4))
        #expect(try await Self.rest(of: reading) == "abcd")
        upload.finish(.done)
        #expect(try await whole == StreamTaken(next: 4, done: true))
    }

    @Test("no more is read than was announced")
    func announced() async throws {
        let (upload, socket) = (Self.upload(size: 3), FakeSocket())
        let reading = upload.begin()
        #expect(try upload.acceptSocket(at: 0) { socket }.isUsed)
        socket.put("abcdef")
        #expect(try await reading.nextBytes() == Array("abc".utf8))
        let error = await #expect(throws: AgentError.self) { _ = try await upload.write(Self.last(at: 6)) }
        #expect(error?.cause == "size")
        #expect(socket.left == 3)
    }

    @Test("a socket that the client closes is not the end of the body")
    func closedEarly() async throws {
        let (upload, socket) = (Self.upload(), FakeSocket())
        let reading = upload.begin()
        #expect(try upload.acceptSocket(at: 0) { socket }.isUsed)
        socket.put("abc")
        socket.end()
        async let end = upload.write(Self.last(at: 9))
        async let body = Self.rest(of: reading)
        #expect(try await end == StreamTaken(next: 3))
        async let known = upload.write(Self.last(at: 3))
        #expect(try await body == "abc")
        upload.finish(.done)
        #expect(try await known == StreamTaken(next: 3, done: true))
    }

    @Test("the end of a stream closes its socket and resumes its reader, and a later socket is not used")
    func ended() async throws {
        let (upload, socket) = (Self.upload(), FakeSocket())
        let reading = upload.begin()
        #expect(try upload.acceptSocket(at: 0) { socket }.isUsed)
        async let waits = #expect(throws: TransportError.cancelled) { _ = try await reading.nextBytes() }
        await socket.isWaitedFor()
        #expect(upload.idleSince != nil)
        upload.finish(.done)
        _ = await waits
        #expect(socket.isClosed)
        let (taken, isUsed) = try upload.acceptSocket(at: 0) { FakeSocket() }
        #expect(taken.done && !isUsed)
    }

    @Test("a socket ends the wait for the client")
    func idle() async throws {
        let (upload, socket) = (Self.upload(), FakeSocket())
        let reading = upload.begin()
        async let piece = reading.nextBytes()
        while upload.idleSince == nil { await Task.yield() }
        // The reader finds the bytes at once, without another wait.
        socket.put("ab")
        #expect(try upload.acceptSocket(at: 0) { socket }.isUsed)
        #expect(upload.idleSince == nil)
        #expect(try await piece == Array("ab".utf8))
        #expect(upload.idleSince == nil)
        upload.finish(.done)
    }

    @Test("a body that can be sent once cannot be repeated after its client has had a socket")
    func once() throws {
        let clock = ManualClock()
        for once in [false, true] {
            let upload = UploadPipe(BodyStream(size: nil, once: once), clock: clock)
            _ = upload.begin()
            #expect(upload.mayRepeat)
            #expect(try !upload.acceptSocket(at: 1) { FakeSocket() }.isUsed)
            #expect(upload.mayRepeat)
            #expect(try upload.acceptSocket(at: 0) { FakeSocket() }.isUsed)
            #expect(upload.mayRepeat == !once)
        }
    }

    @Test("a reading has a few sockets, one at a time; further ones are not created, and the body continues in pieces")
    func several() async throws {
        let upload = Self.upload()
        _ = upload.begin()
        for _ in 1...2 {
            var sockets: [FakeSocket] = []
            for _ in 1...UploadPipe.socketsPerReading {
                let socket = FakeSocket()
                #expect(try upload.acceptSocket(at: 0) { socket }.isUsed)
                sockets.append(socket)
                #expect(sockets.map { $0.isClosed } == sockets.map { $0 !== socket })
            }
            var created = 0
            let error = #expect(throws: AgentError.self) {
                _ = try upload.acceptSocket(at: 0) {
                    created += 1
                    return FakeSocket()
                }
            }
            #expect(error?.kind == .busy && created == 0)
            #expect(sockets.last?.isClosed == false)
            // Another reading has as many.
            _ = upload.begin()
            #expect(sockets.allSatisfy { $0.isClosed })
        }
        let piece = APIWrite(stream: "s", offset: 0, bytes: [1])
        #expect(try await upload.write(piece) == StreamTaken(next: 1))
    }

    @Test("a socket that cannot be created changes nothing, and one that is late is closed")
    func failures() throws {
        let upload = Self.upload()
        _ = upload.begin()
        let error = #expect(throws: AgentError.self) {
            _ = try upload.acceptSocket(at: 0) { () throws(AgentError) -> any BodySocket in
                throw AgentError(.busy, "none left")
            }
        }
        #expect(error?.message == "none left" && upload.mayRepeat)
        let late = FakeSocket()
        let (taken, isUsed) = try upload.acceptSocket(at: 0) {
            upload.finish(.done)
            return late
        }
        #expect(taken.done && !isUsed && late.isClosed)
    }
}

/// A socket in memory.
private final class FakeSocket: BodySocket {
    private struct State {
        var bytes: [UInt8] = []
        var hasEnded = false
        var isClosed = false
        var notify: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    func put(_ text: String) { change { $0.bytes += Array(text.utf8) } }

    func end() { change { $0.hasEnded = true } }

    var isClosed: Bool { state.withLock { $0.isClosed } }
    var left: Int { state.withLock { $0.bytes.count } }

    /// Returns when a reader waits for more.
    func isWaitedFor() async {
        while state.withLock({ $0.notify == nil }) { await Task.yield() }
    }

    private func change(_ change: (inout State) -> Void) {
        let notify = state.withLock { state in
            change(&state)
            defer { state.notify = nil }
            return state.notify
        }
        notify?()
    }

    var isReady: Bool { state.withLock { !$0.bytes.isEmpty || $0.hasEnded } }

    func read(into room: UnsafeMutableRawBufferPointer) -> Int? {
        state.withLock { state in
            guard !state.bytes.isEmpty else { return state.hasEnded ? 0 : nil }
            let count = min(room.count, state.bytes.count)
            room.copyBytes(from: state.bytes.prefix(count))
            state.bytes.removeFirst(count)
            return count
        }
    }

    func whenReady(_ notify: @escaping @Sendable () -> Void) {
        let isReady = state.withLock { state in
            let isReady = !state.bytes.isEmpty || state.hasEnded
            state.notify = isReady ? nil : notify
            return isReady
        }
        if isReady { notify() }
    }

    func close() { change { $0.isClosed = true } }
}

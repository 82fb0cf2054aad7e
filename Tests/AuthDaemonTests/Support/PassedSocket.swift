import AuthWire
import Foundation
import Synchronization
import TestSupport

/// The client's end of a socket for a body or a response. It is closed with its last reference, if not before.
final class PassedSocket: Sendable {
    let number: CInt
    private let isOpen = Mutex(true)

    init(_ number: CInt) { self.number = number }

    deinit { close() }

    func close() {
        isOpen.withLock { isOpen in
            if isOpen { Foundation.close(number) }
            isOpen = false
        }
    }

    /// As much as it accepts now. Negative: `errno` has the reason.
    func send(_ bytes: [UInt8], _ flags: Int = 0) -> Int {
        Foundation.send(number, bytes, bytes.count, CInt(Int(MSG_NOSIGNAL) | flags))
    }

    /// Whether all of it was accepted.
    func write(_ text: String) -> Bool { send(Array(text.utf8)) == text.utf8.count }

    /// `nil`: there is nothing now. Empty: the end.
    func bytesNow(atMost most: Int = 64 << 10) -> [UInt8]? {
        var room = [UInt8](repeating: 0, count: most)
        let count = read(number, &room, most)
        return count < 0 ? nil : Array(room.prefix(count))
    }

    /// Waits for bytes. Empty: the end.
    func bytes(atMost most: Int = 64 << 10) throws -> [UInt8] {
        var found = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
        guard poll(&found, 1, 20_000) > 0 else { throw Failure("the socket has neither bytes nor an end") }
        guard let bytes = bytesNow(atMost: most) else { throw Failure("read: \(String(cString: strerror(errno)))") }
        return bytes
    }

    /// Everything up to the end.
    func rest() throws -> [UInt8] {
        var all: [UInt8] = []
        while case let more = try bytes(), !more.isEmpty { all += more }
        return all
    }

    /// Whether the agent closes its end.
    func isClosed(within milliseconds: CInt = 20_000) -> Bool {
        var found = pollfd(fd: number, events: 0, revents: 0)
        return poll(&found, 1, milliseconds) > 0 && Int32(found.revents) & Int32(POLLHUP) != 0
    }
}

extension RawClient {
    /// - Returns: the answer to a request, and the socket that came with it.
    func answerAndSocket(to request: String) throws -> (answer: JSON, end: PassedSocket?) {
        try send(request)
        let (answer, descriptor) = try jsonAndDescriptor()
        return (answer, descriptor.map(PassedSocket.init))
    }
}

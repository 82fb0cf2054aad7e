import Foundation
import Glibc
import Synchronization

/// Reads what programs write to a terminal, on a thread that ends when the terminal is closed.
final class TerminalReader: Sendable {
    /// Reports that there is new text. Ends with the terminal.
    let changes: AsyncStream<Void>
    /// Ends when ``endMark`` was read, or with the terminal.
    let isShown: AsyncStream<Void>
    private let tell: AsyncStream<Void>.Continuation
    private let show: AsyncStream<Void>.Continuation
    private let closing: Int32
    /// `nil` once it is closed.
    private let controller: Mutex<Int32?>
    private let bytes = Mutex<[UInt8]>([])

    /// No program writes it.
    static let endMark: UInt8 = 0

    /// Owns both descriptors. The terminal is closed once `closing` can be read or is at its end.
    init(_ controller: Int32, until closing: Int32) {
        (changes, tell) = AsyncStream.makeStream()
        (isShown, show) = AsyncStream.makeStream()
        self.controller = Mutex(controller)
        self.closing = closing
    }

    deinit {
        close(closing)
    }

    var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }

    func forget() { bytes.withLock { $0 = [] } }

    /// Does nothing if the terminal is closed.
    func withController(_ body: (Int32) -> Void) {
        controller.withLock { if let controller = $0 { body(controller) } }
    }

    func run() {
        guard let controller = controller.withLock({ $0 }) else { return }
        readAll(from: controller)
        tell.finish()
        show.finish()
        self.controller.withLock { $0 = nil }
        close(controller)
    }

    private func readAll(from controller: Int32) {
        var part = [UInt8](repeating: 0, count: 4096)
        while true {
            var waiting = [
                pollfd(fd: controller, events: Int16(POLLIN), revents: 0),
                pollfd(fd: closing, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&waiting, 2, -1) >= 0 || errno == EINTR else { return }
            if waiting[1].revents != 0 { return }
            guard waiting[0].revents != 0 else { continue }
            let count = Glibc.read(controller, &part, part.count)
            guard count > 0 else { return }
            let read = part[..<count].filter { $0 != Self.endMark }
            bytes.withLock { $0 += read }
            tell.yield()
            if read.count < count { show.finish() }
        }
    }
}

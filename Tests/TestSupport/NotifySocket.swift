import Foundation
import Synchronization

/// A datagram socket that hears what a service tells its manager (sd_notify(3)), one datagram a message.
package final class NotifySocket: Sendable {
    package let path: String
    /// Until ``end()``: then the number may be somebody else's.
    private let descriptor: Mutex<Int32?>
    private let messages: AsyncStream<String>
    private let kept: Kept

    /// All that was heard, waited for or not.
    package var heard: String { kept.text.withLock { $0 } }

    private final class Kept: Sendable {
        let text = Mutex("")
    }

    package init(at path: String) throws {
        self.path = path
        let (messages, tell) = AsyncStream.makeStream(of: String.self)
        self.messages = messages
        let kept = Kept()
        self.kept = kept
        unlink(path)
        let heard = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        descriptor = Mutex(heard)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(heard, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0 else { throw Failure("\(path): \(String(cString: strerror(errno)))") }
        Thread.detachNewThread {
            var buffer = [UInt8](repeating: 0, count: 65536)
            while true {
                let count = recv(heard, &buffer, buffer.count, 0)
                guard count > 0 else { break }
                let message = String(decoding: buffer[..<count], as: UTF8.self)
                kept.text.withLock { $0 += message + "\n" }
                tell.yield(message)
            }
            close(heard)
            tell.finish()
        }
    }

    /// The first such message among those not waited for yet; `nil` when there comes none before `end`.
    package func message(_ wanted: (String) -> Bool) async -> String? {
        for await message in messages where wanted(message) { return message }
        return nil
    }

    /// Nothing more is heard but what was sent before.
    package func end() {
        descriptor.withLock { descriptor in
            if let open = descriptor { shutdown(open, Int32(SHUT_RDWR)) }
            descriptor = nil
        }
    }

    deinit {
        end()
    }
}

import Foundation
import Synchronization

/// A datagram socket that receives a service's messages to its manager (sd_notify(3)), one per datagram.
package final class NotifySocket: Sendable {
    package let path: String
    /// Valid until ``end()``: then the number may be reused.
    private let descriptor: Mutex<Int32?>
    private let messages: AsyncStream<String>
    private let kept: ReceivedMessage

    /// All messages that were received.
    package var received: String { kept.text.withLock { $0 } }

    private final class ReceivedMessage: Sendable {
        let text = Mutex("")
    }

    /// Stops the receiving thread, which keeps the last message that it has received.
    private final class Gate: @unchecked Sendable {
        // The condition guards both.
        private let condition = NSCondition()
        private var isClosed = false
        private var holds = false

        func close() { condition.withLock { isClosed = true } }

        func pass() {
            condition.withLock {
                holds = isClosed
                condition.broadcast()
                while isClosed { condition.wait() }
                holds = false
            }
        }

        func waitUntilItHolds() {
            condition.withLock { while !holds { condition.wait() } }
        }

        func open() {
            condition.withLock {
                isClosed = false
                condition.broadcast()
            }
        }
    }

    private let gate = Gate()

    /// - Parameter path: a path, or an abstract name after `@`.
    /// - Parameter descriptorStore: for the descriptors that come with messages; without one they are closed.
    package init(at path: String, descriptorStore: FakeDescriptorStore? = nil) throws {
        self.path = path
        let (messages, tell) = AsyncStream.makeStream(of: String.self)
        self.messages = messages
        let kept = ReceivedMessage()
        self.kept = kept
        let isAbstract = path.hasPrefix("@")
        if !isAbstract { unlink(path) }
        let listener = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        descriptor = Mutex(listener)
        let bound = Self.withAddress(of: path) { bind(listener, $0, $1) }
        guard bound == 0 else { throw Failure("\(path): \(String(cString: strerror(errno)))") }
        Thread.detachNewThread { [gate] in
            while let (message, descriptors) = Self.receive(listener) {
                gate.pass()
                if let descriptorStore {
                    descriptorStore.record(message, descriptors)
                } else {
                    for open in descriptors { close(open) }
                }
                kept.text.withLock { $0 += message + "\n" }
                tell.yield(message)
            }
            close(listener)
            tell.finish()
        }
    }

    private static func withAddress<Result>(
        of path: String, _ use: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        var length = MemoryLayout<sockaddr_un>.size
        if path.hasPrefix("@") {
            address.sun_path.0 = 0
            length = MemoryLayout<sa_family_t>.size + path.utf8.count
        }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { use($0, socklen_t(length)) }
        }
    }

    /// Stops receiving until ``receiveAgain()``, like a manager that hangs. When this returns, the queue is full.
    package func stopReceiving() {
        gate.close()
        _ = fill()
        gate.waitUntilItHolds()
        while fill() {}
    }

    package func receiveAgain() { gate.open() }

    /// Sends a message without effect; `false` if the queue is full.
    private func fill() -> Bool { send(Array("X_TEST=1".utf8), Int32(MSG_DONTWAIT)) }

    /// Sends a message as libsystemd does: it blocks while the queue is full.
    package func sendBlocking(_ message: [UInt8]) { _ = send(message, 0) }

    private func send(_ message: [UInt8], _ flags: Int32) -> Bool {
        let sender = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(sender) }
        return Self.withAddress(of: path) { sendto(sender, message, message.count, flags, $0, $1) } > 0
    }

    /// The next datagram and the descriptors that came with it (unix(7), SCM_RIGHTS); `nil` at the end.
    private static func receive(_ socket: Int32) -> (String, [Int32])? {
        var bytes = [UInt8](repeating: 0, count: 65536)
        // One header, and the most descriptors that one message carries.
        var control = [UInt8](repeating: 0, count: 2048)
        var count = 0
        var descriptors: [Int32] = []
        bytes.withUnsafeMutableBytes { bytes in
            control.withUnsafeMutableBytes { control in
                var vector = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
                var header = msghdr()
                header.msg_control = control.baseAddress
                header.msg_controllen = control.count
                withUnsafeMutablePointer(to: &vector) { vector in
                    header.msg_iov = vector
                    header.msg_iovlen = 1
                    count = recvmsg(socket, &header, Int32(MSG_CMSG_CLOEXEC))
                }
                let head = MemoryLayout<cmsghdr>.size
                guard count > 0, header.msg_controllen > head else { return }
                let first = control.loadUnaligned(as: cmsghdr.self)
                guard first.cmsg_type == Int32(SCM_RIGHTS) else { return }
                for offset in stride(from: head, to: Int(first.cmsg_len), by: MemoryLayout<Int32>.size) {
                    descriptors.append(control.loadUnaligned(fromByteOffset: offset, as: Int32.self))
                }
            }
        }
        return count > 0 ? (String(decoding: bytes[..<count], as: UTF8.self), descriptors) : nil
    }

    /// The first such message among those not waited for yet; `nil` when there comes none before `end`.
    package func message(_ wanted: (String) -> Bool) async -> String? {
        for await message in messages where wanted(message) { return message }
        return nil
    }

    /// Receives only what was already sent.
    package func end() {
        gate.open()
        descriptor.withLock { descriptor in
            if let open = descriptor { shutdown(open, Int32(SHUT_RDWR)) }
            descriptor = nil
        }
    }

    deinit {
        end()
    }
}

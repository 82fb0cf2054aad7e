import Foundation
import Synchronization

/// Our end of a child's input, closed once.
final class ChildInput: Sendable {
    private let descriptor: Mutex<Int32?>

    init(_ descriptor: Int32?) {
        self.descriptor = Mutex(descriptor)
    }

    /// Writes all of it and ends the input; the child may have gone without reading.
    func write(_ bytes: [UInt8]) {
        put(bytes)
        end()
    }

    /// Writes all of it; more may follow.
    func put(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty, let descriptor = descriptor.withLock({ $0 }) {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            rest = rest.dropFirst(count)
        }
    }

    func end() {
        descriptor.withLock { descriptor in
            if let open = descriptor { close(open) }
            descriptor = nil
        }
    }

    deinit {
        end()
    }
}

import Glibc

/// The system's message for an errno.
package enum SystemError {
    package static func text(_ code: CInt) -> String {
        // Longer than any message. strerror(3) is not thread-safe.
        var buffer = [CChar](repeating: 0, count: 128)
        guard unsafe strerror_r(code, &buffer, buffer.count) == 0 else { return "error \(code)" }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

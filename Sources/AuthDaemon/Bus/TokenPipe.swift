import AuthFiles
import CSystemd
import Glibc

/// Passes a token to one reader, without a trace in the message: messages on a session bus can be monitored.
///
/// A pipe, because what was read is gone, and the kernel never writes it to a swap device.
enum TokenPipe {
    /// - Returns: the end to read, which has the token and then its end. The caller closes it.
    static func holding(_ token: String) throws(SystemFailure) -> CInt {
        var ends: (CInt, CInt) = (-1, -1)
        let count = token.utf8.count
        let made = unsafe withUnsafeMutablePointer(to: &ends) { pair in
            unsafe pair.withMemoryRebound(to: CInt.self, capacity: 2) { unsafe authd_pipe($0, CInt(clamping: count)) }
        }
        guard made == 0 else { throw SystemFailure("create a pipe for the token") }
        defer { close(ends.1) }
        var token = token
        let written = token.withUTF8 { unsafe write(ends.1, $0.baseAddress, $0.count) }
        guard written == count else {
            let failure = SystemFailure("write the token to a pipe", number: written < 0 ? errno : EMSGSIZE)
            close(ends.0)
            throw failure
        }
        return ends.0
    }
}

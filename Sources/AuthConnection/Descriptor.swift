import AuthWire
import Glibc

/// An open file descriptor, which is closed with its last reference.
package final class Descriptor: Sendable {
    package let number: Int32

    package init(_ number: Int32) {
        self.number = number
    }

    deinit {
        close(number)
    }
}

package func systemText(_ call: String, _ code: Int32) -> String {
    "\(call): \(SystemError.text(code))"
}

import AuthWire
import Glibc

/// A call of the operating system that failed: what was tried, on what, and errno(3) in words.
package struct SystemFailure: Error, Sendable, Equatable, CustomStringConvertible {
    package let what: String
    package let number: CInt

    package init(_ what: String, number: CInt) {
        self.what = what
        self.number = number
    }

    /// With the errno of the call that has just failed.
    package init(_ what: String) {
        self.init(what, number: errno)
    }

    package var description: String { "cannot \(what): \(SystemError.text(number))" }
}

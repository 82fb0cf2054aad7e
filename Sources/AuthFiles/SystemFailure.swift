internal import AuthWire
internal import Glibc

/// A failed system call: the action, its object, and the message of errno(3).
package struct SystemFailure: Error, Sendable, Equatable, CustomStringConvertible {
    package let what: String
    package let number: CInt

    package init(_ what: String, number: CInt) {
        self.what = what
        self.number = number
    }

    /// With the errno of the last call.
    package init(_ what: String) {
        self.init(what, number: errno)
    }

    package var description: String {
        let isFull = number == ENOSPC || number == EDQUOT
        return "cannot \(what): \(isFull ? "the disk is full: " : "")\(SystemError.text(number))"
    }
}

internal import AuthWire
internal import Glibc

/// A failed system call: the action, its object, and the message of errno(3) or another reason.
package struct SystemFailure: Error, Sendable, Equatable, CustomStringConvertible {
    package let what: String
    /// 0 if no call failed.
    package let number: CInt

    package init(_ what: String, number: CInt) {
        self.what = what
        self.number = number
    }

    /// The object is not what it must be: it was refused before a call could fail.
    package init(_ what: String, because refusal: String) {
        self.init("\(what): \(refusal)", number: 0)
    }

    /// With the errno of the last call.
    package init(_ what: String) {
        self.init(what, number: errno)
    }

    package var description: String {
        guard number != 0 else { return "cannot \(what)" }
        let isFull = number == ENOSPC || number == EDQUOT
        return "cannot \(what): \(isFull ? "the disk is full: " : "")\(SystemError.text(number))"
    }
}

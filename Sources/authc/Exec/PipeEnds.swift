import AuthConnection
import AuthWire
import Glibc

/// A new pipe. Both ends are close-on-exec.
struct PipeEnds {
    let reading: Descriptor
    /// `nil` closes it, unless something else has it.
    var writing: Descriptor?

    init() throws(Failure) {
        var numbers: [Int32] = [-1, -1]
        guard unsafe pipe(&numbers) == 0 else {
            throw .internalError("cannot make a pipe (\(SystemError.text(errno)))")
        }
        for number in numbers { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
        (reading, writing) = (Descriptor(numbers[0]), Descriptor(numbers[1]))
    }
}

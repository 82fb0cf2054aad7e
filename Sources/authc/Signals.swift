import AuthClient
import AuthWire
import Glibc

/// The signals that end or stop a command, turned into something poll(2) can wait for, so that the terminal is put
/// back and the agent told before the program goes.
///
/// One at a time in a program: the handler has no other way to find it.
final class Signals {
    /// The pair's writing end, for the handler alone; set before any handler is in place and kept for ever.
    nonisolated(unsafe) private static var writing: Int32 = -1

    private let reading: Int32
    /// What was caught and not yet acted upon.
    private(set) var caught: Int32?
    private var before: [(number: Int32, action: sigaction)] = []

    /// - Parameter numbers: which signals. Those that the caller's caller ignores stay ignored (nohup).
    init(_ numbers: [Int32]) throws(Failure) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw .internalError("cannot wait for signals (\(SystemError.text(errno)))")
        }
        reading = ends[0]
        unsafe Self.writing = ends[1]
        for number in numbers { install(number) }
    }

    deinit {
        for (number, action) in before {
            var action = action
            unsafe sigaction(number, &action, nil)
        }
        close(reading)
        unsafe close(Self.writing)
        unsafe Self.writing = -1
    }

    enum Outcome {
        case ready
        case deadline
        case signal
    }

    /// Waits for `descriptor` to be readable.
    /// - Parameter output: the program ends when its reader goes, as at the next write; -1: nothing is.
    func wait(for descriptor: Int32, until deadline: Deadline, writingTo output: Int32 = -1) -> Outcome {
        guard caught == nil else { return .signal }
        var descriptors = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: reading, events: Int16(POLLIN), revents: 0),
            // POLLERR is told unasked (poll(2)).
            pollfd(fd: output, events: 0, revents: 0),
        ]
        while true {
            let ready = unsafe poll(&descriptors, 3, deadline.pollTimeout)
            if ready > 0, descriptors[1].revents != 0 {
                var number: UInt8 = 0
                if unsafe read(reading, &number, 1) == 1 {
                    caught = Int32(number)
                    return .signal
                }
            }
            if ready > 0, descriptors[0].revents != 0 { return .ready }
            if ready > 0, descriptors[2].revents & Int16(POLLERR) != 0 { Output.endUnread() }
            if deadline.hasPassed { return .deadline }
        }
    }

    /// The one that was caught, which counts as acted upon from here.
    func consume() -> Int32? {
        defer { caught = nil }
        return caught
    }

    /// Lets a signal do what it does by itself: stop the program until it is continued, or end it.
    func performDefault(_ number: Int32) {
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = SIG_DFL
        var installed = sigaction()
        unsafe sigaction(number, &action, &installed)
        raise(number)
        unsafe sigaction(number, &installed, nil)
    }

    /// ^Z: returns when the person has the program go on.
    func stopProgram() {
        caught = nil
        performDefault(SIGTSTP)
    }

    private func install(_ number: Int32) {
        var old = sigaction()
        unsafe sigaction(number, nil, &old)
        if unsafe unsafeBitCast(old.__sigaction_handler.sa_handler, to: Int.self) == Self.ignored { return }
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = { number in
            let code = errno
            var byte = UInt8(truncatingIfNeeded: number)
            _ = unsafe write(Signals.writing, &byte, 1)
            errno = code
        }
        action.sa_flags = SA_RESTART
        unsafe sigaction(number, &action, nil)
        before.append((number, old))
    }

    /// SIG_IGN (signal.h), which is a cast that Swift cannot import.
    private static let ignored = 1
}

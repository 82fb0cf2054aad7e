import AuthConnection
import AuthWire
import Glibc

/// Lets poll(2) wait for the signals that end or stop a command, so that the command can restore the terminal and notify the
/// agent first.
///
/// A program has one at a time, because the handler finds it in a static variable.
final class Signals {
    /// The writing end of the pair, for the handler only. Set before a handler is installed.
    nonisolated(unsafe) private static var writing: Int32 = -1

    private let reading: Int32
    /// The signal that was caught and is not handled yet.
    private(set) var caught: Int32?
    private var before: [(number: Int32, action: sigaction)] = []

    /// - Parameter numbers: the signals. Those that the program was started to ignore stay ignored (nohup).
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

    /// What a command waits for besides signals. A descriptor of -1 is ignored.
    enum Event {
        case readable(Int32)
        /// It is writable, or has no reader.
        case writable(Int32)
        /// Its reader has closed it. The program then ends, as it would at the next write.
        case unread(Int32)

        fileprivate var descriptor: pollfd {
            switch self {
            case .readable(let number): pollfd(fd: number, events: Int16(POLLIN), revents: 0)
            case .writable(let number): pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
            // POLLERR, of a pipe, and POLLHUP, of a socket, are always reported (poll(2)).
            case .unread(let number): pollfd(fd: number, events: 0, revents: 0)
            }
        }
    }

    func wait(for events: Event..., until deadline: Deadline) -> Outcome {
        guard caught == nil else { return .signal }
        var descriptors = ([Event.readable(reading)] + events).map(\.descriptor)
        while true {
            if unsafe poll(&descriptors, nfds_t(descriptors.count), deadline.pollTimeout) > 0 {
                if descriptors[0].revents != 0, readSignal() { return .signal }
                var isUnread = false
                for (event, result) in zip(events, descriptors.dropFirst()) {
                    switch event {
                    case .readable, .writable: if result.revents != 0 { return .ready }
                    case .unread: if result.revents & Int16(POLLERR | POLLHUP) != 0 { isUnread = true }
                    }
                }
                if isUnread { Output.endUnread() }
            }
            if deadline.hasPassed { return .deadline }
        }
    }

    /// Returns the signal that was caught, which then counts as handled.
    func consume() -> Int32? {
        defer { caught = nil }
        return caught
    }

    /// Performs a signal's default action: stops the program until it is continued, or ends it.
    func performDefault(_ number: Int32) {
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = SIG_DFL
        var installed = sigaction()
        unsafe sigaction(number, &action, &installed)
        raise(number)
        unsafe sigaction(number, &installed, nil)
    }

    /// ^Z: returns when the user continues the program.
    func stopProgram() {
        caught = nil
        performDefault(SIGTSTP)
    }

    private func readSignal() -> Bool {
        var number: UInt8 = 0
        guard unsafe read(reading, &number, 1) == 1 else { return false }
        caught = Int32(number)
        return true
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

    /// SIG_IGN (signal.h), a cast that Swift cannot import.
    private static let ignored = 1
}

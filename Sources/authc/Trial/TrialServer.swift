import AuthConnection
import AuthWire
import Glibc

/// The provider of `authc try`: a program that listens on a loopback address (Docs/decisions/try.md).
final class TrialServer {
    private static let longestLine = 16 << 10
    private static let renewal = "renewed"

    private(set) var profile = ""
    private(set) var email = ""
    private(set) var password = ""

    private let signals: Signals
    private let time: Duration
    private let input: Descriptor
    private let output: Descriptor
    private var unread: [UInt8] = []

    /// - Parameter time: for its start, and for each of its lines.
    init(_ place: TrialPlace, _ signals: Signals, within time: Duration) throws(Failure) {
        let (input, inputOfServer) = try Self.inputPair()
        var fromServer = try PipeEnds()
        _ = try place.start(
            [try InstalledProgram.gateway(), "trial"],
            [(STDIN_FILENO, inputOfServer)] + [fromServer.writing].compactMap { $0.map { (STDOUT_FILENO, $0) } })
        fromServer.writing = nil
        (self.signals, self.time) = (signals, time)
        (self.input, output) = (input, fromServer.reading)
        let hello = try? JSON(parsing: Array(try line().utf8))
        profile = hello?["profile"]?.stringValue ?? ""
        email = hello?["email"]?.stringValue ?? ""
        password = hello?["password"]?.stringValue ?? ""
        guard !profile.isEmpty, !password.isEmpty else { throw .internalError("authd-gateway did not start") }
    }

    /// Waits for one of its events.
    /// - Parameter skippingRenewals: whether renewals may come first: authd also renews without being asked, such as after
    ///   a failed renewal.
    func expect(_ event: String, skippingRenewals: Bool = false) throws(Failure) {
        var found = try line()
        while skippingRenewals, found == Self.renewal { found = try line() }
        guard found == event else { throw .internalError("the provider reported '\(Visible.line(found))'") }
    }

    /// Sends a command and waits until it was done.
    func sendCommand(_ command: String) throws(Failure) {
        let bytes = Array((command + "\n").utf8)
        guard unsafe send(input.number, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
            throw Self.ended
        }
        try expect(command, skippingRenewals: true)
    }

    private static let ended = Failure.internalError("authd-gateway has ended")

    /// - Throws: if it has ended, which explains why a command failed.
    func expectRunning() throws(Failure) {
        var event = pollfd(fd: output.number, events: 0, revents: 0)
        // Its end may still be in progress.
        if unsafe poll(&event, 1, 100) == 1 { throw Self.ended }
    }

    /// A socket pair, because a write to a pipe raises SIGPIPE if the server has ended.
    private static func inputPair() throws(Failure) -> (own: Descriptor, server: Descriptor) {
        var ends: [Int32] = [-1, -1]
        guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw .internalError("cannot make a socket pair (\(SystemError.text(errno)))")
        }
        return (Descriptor(ends[0]), Descriptor(ends[1]))
    }

    private func line() throws(Failure) -> String {
        let deadline = Deadline.after(time)
        while true {
            if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                defer { unread.removeSubrange(...end) }
                return String(decoding: unread[..<end], as: UTF8.self)
            }
            switch signals.wait(for: .readable(output.number), until: deadline) {
            case .ready: break
            case .signal: throw .interrupted
            case .deadline: throw .internalError("authd-gateway does not answer")
            }
            var part = [UInt8](repeating: 0, count: 4096)
            let count = unsafe read(output.number, &part, part.count)
            guard count > 0, unread.count < Self.longestLine else { throw Self.ended }
            unread += part[..<count]
        }
    }
}

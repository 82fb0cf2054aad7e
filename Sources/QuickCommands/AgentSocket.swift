import CStart

/// A connection to the agent. Whatever goes wrong with it, the full program reports it.
struct AgentSocket: ~Copyable {
    private let number: Int32

    /// `nil` if the agent is not there, or is another user's.
    init?(_ path: ByteString) {
        number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard number >= 0, connect(to: path), isOwn() else { return nil }
    }

    deinit {
        if number >= 0 { close(number) }
    }

    private func connect(to path: ByteString) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let isShort = unsafe withUnsafeMutableBytes(of: &address.sun_path) { room in
            guard path.bytes.count < room.count else { return false }
            unsafe room.copyBytes(from: path.bytes)
            return true
        }
        guard isShort else { return false }
        return unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe CStart.connect(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }

    /// Whether the agent runs as this user, or as root (SO_PEERCRED, unix(7)).
    private func isOwn() -> Bool {
        // struct ucred: the process, the user and the group.
        var peer: (Int32, UInt32, UInt32) = (0, .max, .max)
        var length = socklen_t(MemoryLayout.size(ofValue: peer))
        guard unsafe getsockopt(number, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 else { return false }
        return peer.1 == geteuid() || peer.1 == 0
    }

    /// Whether all of it was sent. It is far smaller than a socket's buffer.
    func send(_ bytes: [UInt8]) -> Bool {
        unsafe bytes.withUnsafeBytes {
            unsafe CStart.send(number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) == $0.count
        }
    }

    /// The time of CLOCK_MONOTONIC.
    private static func milliseconds() -> Int64 {
        var now = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &now)
        return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
    }

    /// Receives exactly so many lines, and nothing before this process's memory is closed to other programs.
    func receive(_ lines: Int, into room: UnsafeMutableRawBufferPointer, within milliseconds: Int32) -> Text? {
        var count = 0
        var missing = lines
        let end = Self.milliseconds() + Int64(milliseconds)
        while missing > 0 {
            var waiting = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
            let left = Int32(max(0, end - Self.milliseconds()))
            guard count < room.count, unsafe poll(&waiting, 1, left) == 1, start_forbid_dumps() == 0 else { return nil }
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: room[count...])
            let received = unsafe recv(number, rest.baseAddress, rest.count, 0)
            guard received > 0 else { return nil }
            missing -= unsafe rest[..<received].count { $0 == .lineFeed }
            count += received
        }
        // Another line, such as an error about the whole request: authc-full reports it.
        guard missing == 0 else { return nil }
        return unsafe Text(UnsafeRawBufferPointer(rebasing: room[..<count]))
    }
}

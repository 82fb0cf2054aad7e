import Glibc

/// The kernel's routing socket: its announcements and its replies.
final class RouteSocket {
    let descriptor: Int32

    /// RTMGRP_LINK, RTMGRP_IPV4_IFADDR, RTMGRP_IPV4_ROUTE, RTMGRP_IPV6_IFADDR and RTMGRP_IPV6_ROUTE.
    private static let announcements: UInt32 = 0x1 | 0x10 | 0x40 | 0x100 | 0x400
    /// The kernel fills at most this much at once (rtnetlink.c).
    private static let bufferBytes = 32 << 10
    /// The kernel replies at once; this is for a kernel that never does.
    private static let timeout = timeval(tv_sec: 1, tv_usec: 0)

    /// `nil` if the system does not allow it, as in a sandbox.
    static func listening() -> RouteSocket? { RouteSocket(groups: announcements, flags: SOCK_NONBLOCK) }

    private init?(groups: UInt32, flags: __socket_type? = nil) {
        let type = Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(flags?.rawValue ?? 0)
        let descriptor = socket(AF_NETLINK, type, 0)
        guard descriptor >= 0 else { return nil }
        // `struct sockaddr_nl`: family and padding (2 each), port (4), groups (4).
        let address: [UInt32] = [UInt32(UInt16(AF_NETLINK).littleEndian), 0, groups]
        let isBound = address.withUnsafeBytes { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { bind(descriptor, $0.baseAddress, socklen_t(bytes.count)) == 0 }
        }
        guard isBound else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Discards the announcements; that there were some is enough.
    func discard() {
        var buffer = [UInt8](repeating: 0, count: Self.bufferBytes)
        // ENOBUFS, too, means only that there were many.
        while recv(descriptor, &buffer, buffer.count, 0) > 0 || errno == ENOBUFS || errno == EINTR {}
    }

    /// All current links, addresses and routes; `nil` if the kernel does not reply.
    static func picture() -> KernelSnapshot? {
        guard let socket = RouteSocket(groups: 0) else { return nil }
        var timeout = Self.timeout
        setsockopt(
            socket.descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var picture = KernelSnapshot()
        let kinds = [NetlinkMessage.Kind.getLink, NetlinkMessage.Kind.getAddress, NetlinkMessage.Kind.getRoute]
        for (number, kind) in kinds.enumerated() {
            guard socket.dump(kind, sequence: UInt32(number + 1), into: &picture) else { return nil }
        }
        return picture
    }

    private func dump(_ kind: UInt16, sequence: UInt32, into picture: inout KernelSnapshot) -> Bool {
        let request = NetlinkMessage.dump(kind, sequence: sequence)
        guard send(descriptor, request, request.count, 0) == request.count else { return false }
        var buffer = [UInt8](repeating: 0, count: Self.bufferBytes)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            for message in NetlinkMessage.list(in: buffer[..<count]) where message.sequence == sequence {
                switch message.kind {
                case NetlinkMessage.Kind.done: return true
                case NetlinkMessage.Kind.error: return false
                default: picture.add(message)
                }
            }
        }
    }
}

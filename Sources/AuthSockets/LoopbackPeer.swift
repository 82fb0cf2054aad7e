import CLinux
import Glibc
package import NIOCore
import Synchronization

/// Finds which user owns the socket at the other end of a local TCP connection. TCP does not say; the kernel knows it.
///
/// Netlink is asked first (sock_diag(7)): it looks up one socket, with the same cost for any number of sockets. If the kernel
/// or a sandbox does not allow it, the table of all sockets is read (proc_pid_net(5)).
package enum LoopbackPeer {
    package enum Owner: Equatable, Sendable {
        case user(UInt32)
        /// No process has the socket.
        case nobody
        /// The kernel could not be asked. It may be possible the next time.
        case unknown

        package var userID: UInt32? { if case .user(let userID) = self { userID } else { nil } }
    }

    /// Netlink has replied once: a socket that it does not know is not in the table either.
    private static let hasNetlink = Atomic(false)

    /// - Returns: `nil` if the socket is gone, or its user is unknown.
    package static func userID(peer: SocketAddress, own: SocketAddress) -> UInt32? {
        owner(peer: peer, own: own).userID
    }

    /// - Parameters:
    ///   - peer: the address of the other end, from accept(2).
    ///   - own: the address of our end.
    package static func owner(peer: SocketAddress, own: SocketAddress) -> Owner {
        guard let pair = SocketPair(source: peer, destination: own) else { return .unknown }
        var userID: UInt32 = .max
        let failure = unsafe linux_tcp_owner(
            pair.isIPv6 ? AF_INET6 : AF_INET, pair.source, pair.sourcePort, pair.destination, pair.destinationPort,
            &userID)
        guard failure == 0 else {
            return hasNetlink.load(ordering: .relaxed) ? owner(after: failure) : SocketTable.owner(of: pair)
        }
        hasNetlink.store(true, ordering: .relaxed)
        return .user(userID)
    }

    /// - Parameter failure: what netlink has replied instead of a user, or why it could not be asked.
    package static func owner(after failure: Int32) -> Owner { failure == ENOENT ? .nobody : .unknown }
}

/// The two ends of a connection, as seen from the socket at the other end.
package struct SocketPair: Equatable {
    /// 4 bytes for IPv4, 16 for IPv6, in network order.
    package var source: [UInt8]
    package var sourcePort: UInt16
    package var destination: [UInt8]
    package var destinationPort: UInt16

    var isIPv6: Bool { source.count == 16 }

    /// `nil` if the addresses are not IP addresses of the same family.
    package init?(source: SocketAddress, destination: SocketAddress) {
        guard let from = Self.bytes(source), let sourcePort = source.port, let to = Self.bytes(destination),
            let destinationPort = destination.port, from.count == to.count
        else { return nil }
        (self.source, self.sourcePort) = (from, UInt16(truncatingIfNeeded: sourcePort))
        (self.destination, self.destinationPort) = (to, UInt16(truncatingIfNeeded: destinationPort))
    }

    /// As in an IPv6 socket that is used for IPv4 (RFC 4291 §2.5.5.2).
    package var mapped: SocketPair {
        let prefix = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
        var pair = self
        (pair.source, pair.destination) = (prefix + source, prefix + destination)
        return pair
    }

    /// The address in a `struct sockaddr_in` or `sockaddr_in6` (ip(7), ipv6(7)).
    private static func bytes(_ address: SocketAddress) -> [UInt8]? {
        let part: Range<Int>
        switch address {
        case .v4: part = 4..<8
        case .v6: part = 8..<24
        case .unixDomainSocket: return nil
        }
        return unsafe address.withSockAddr { start, count in
            unsafe Array(
                UnsafeRawBufferPointer(start: start, count: count).dropFirst(part.lowerBound).prefix(part.count))
        }
    }
}

/// `/proc/net/tcp` and `/proc/net/tcp6` (proc_pid_net(5)).
package enum SocketTable {
    /// A table of some hundred thousand sockets. The rest is not read.
    private static let maxBytes = 64 << 20

    package static func owner(of pair: SocketPair) -> LoopbackPeer.Owner {
        let other = { (pair: SocketPair) in owner(of: pair, in: "/proc/net/tcp6") }
        if pair.isIPv6 { return other(pair) }
        let found = owner(of: pair, in: "/proc/net/tcp")
        if found != .nobody { return found }
        return other(pair.mapped)
    }

    /// - Parameter path: of such a file. `nobody` if there is no such file: a kernel without IPv6.
    package static func owner(of pair: SocketPair, in path: String) -> LoopbackPeer.Owner {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return errno == ENOENT ? .nobody : .unknown }
        defer { close(descriptor) }
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 256 << 10)
        while text.count < maxBytes {
            let count = unsafe read(descriptor, &buffer, buffer.count)
            guard count >= 0 else { return .unknown }
            guard count > 0 else { break }
            text += buffer[..<count]
        }
        if let userID = userID(of: pair, in: text) { return .user(userID) }
        return text.count < maxBytes ? .nobody : .unknown
    }

    /// - Parameter table: the text of such a file.
    package static func userID(of pair: SocketPair, in table: [UInt8]) -> UInt32? {
        let source = written(pair.source, pair.sourcePort)
        let destination = written(pair.destination, pair.destinationPort)
        for line in table.split(separator: UInt8(ascii: "\n")).dropFirst() {
            // sl, local and remote address, state, queues, timer, retransmissions, user, timeout, inode.
            let fields = line.split(separator: UInt8(ascii: " "))
            guard fields.count > 9, fields[1].elementsEqual(source.utf8), fields[2].elementsEqual(destination.utf8),
                let userID = UInt32(String(decoding: fields[7], as: UTF8.self))
            else { continue }
            // Closed by its process: it has no owner, and is shown as root's.
            return fields[9].elementsEqual("0".utf8) ? nil : userID
        }
        return nil
    }

    /// Each four bytes as one number in host order, in hexadecimal.
    private static func written(_ address: [UInt8], _ port: UInt16) -> String {
        func digits(_ number: some FixedWidthInteger & UnsignedInteger, _ count: Int) -> String {
            let text = String(number, radix: 16, uppercase: true)
            return String(repeating: "0", count: count - text.count) + text
        }
        let words = stride(from: 0, to: address.count, by: 4).map { start in
            address[start..<start + 4].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        return words.map { digits(UInt32(littleEndian: $0), 8) }.joined() + ":" + digits(port, 4)
    }
}

import AuthWire
package import Glibc

/// A connected, non-blocking Unix stream socket. Every wait is a poll(2) with a deadline.
package struct LocalSocket: Sendable {
    package let descriptor: Descriptor

    package enum Received {
        case bytes
        case nothingYet
        case end
    }

    /// Tries once to connect. `nil` if the listener's queue is full.
    package static func attempt(_ path: String) throws(ClientError) -> LocalSocket? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let room = MemoryLayout.size(ofValue: address.sun_path) - 1
        guard !bytes.isEmpty, bytes.count <= room, !bytes.contains(0) else {
            throw .noAgent(path: path, reason: "the path of a socket must have 1 to \(room) bytes")
        }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }

        let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard number >= 0 else { throw .system(systemText("socket", errno)) }
        let descriptor = Descriptor(number)
        let result = unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        if result == 0 { return LocalSocket(descriptor: descriptor) }
        // A Unix socket connects at once or fails: EAGAIN means a full queue (unix(7)).
        if errno == EAGAIN || errno == EINTR { return nil }
        throw .noAgent(path: path, reason: reason(errno))
    }

    /// The user of the process that opened the listening socket (SO_PEERCRED, unix(7)); `nil` if unknown.
    private var serverUserID: UInt32? {
        // struct ucred: the process, the user and the group.
        var peer: (Int32, UInt32, UInt32) = (0, .max, .max)
        var length = socklen_t(MemoryLayout.size(ofValue: peer))
        guard unsafe getsockopt(descriptor.number, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 else { return nil }
        return peer.1
    }

    /// Before anything is sent that another user must not see: the agent must run as this user, or as root, which can
    /// read this process anyway.
    package func requireOwnServer() throws(ClientError) {
        let userID = serverUserID
        guard userID == geteuid() || userID == 0 else { throw .otherUser(userID: userID) }
    }

    /// Why connect(2) failed.
    private static func reason(_ code: Int32) -> String {
        switch code {
        case ENOENT: "no such file"
        case ECONNREFUSED: "no program listens"
        case ENOTSOCK, EPROTOTYPE: "not a stream socket"
        default: SystemError.text(code)
        }
    }

    /// Sends as many bytes as fit now, and returns their number.
    package func send(_ bytes: ArraySlice<UInt8>) throws(ClientError) -> Int {
        let sent = unsafe bytes.withUnsafeBytes {
            unsafe Glibc.send(descriptor.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        if sent >= 0 { return sent }
        guard errno == EAGAIN || errno == EINTR else { throw .closed }
        return 0
    }

    /// - Parameter passed: receives a descriptor that comes with the bytes. Without it, the kernel closes the
    ///   descriptor.
    package func receive(
        into lines: inout LineBuffer, _ passed: ((Descriptor) -> Void)? = nil
    ) throws(ClientError) -> Received {
        let (count, code) = unsafe withUnsafeTemporaryAllocation(byteCount: ClientLimits.readBytes, alignment: 1) {
            let count =
                if let passed {
                    unsafe receive($0, passed)
                } else {
                    unsafe recv(descriptor.number, $0.baseAddress, $0.count, 0)
                }
            let code = errno
            if count > 0 { unsafe lines.append(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            return (count, code)
        }
        if count > 0 { return .bytes }
        if count == 0 { return .end }
        guard code == EAGAIN || code == EINTR else { throw .closed }
        return .nothingYet
    }
}

extension LocalSocket {
    /// recvmsg(2), with room for one descriptor.
    private func receive(_ room: UnsafeMutableRawBufferPointer, _ passed: (Descriptor) -> Void) -> Int {
        // A struct cmsghdr and its data (cmsg(3)): length, level, type, the descriptor, and padding. The kernel may not
        // use the padding: it has room for a second descriptor, which nobody would close.
        var control: (length: Int, level: Int32, type: Int32, number: Int32, padding: Int32) = (0, 0, 0, -1, 0)
        let length = MemoryLayout<Int>.size + 3 * MemoryLayout<Int32>.size
        var part = unsafe iovec(iov_base: room.baseAddress, iov_len: room.count)
        let (count, code, controlBytes) = unsafe withUnsafeMutableBytes(of: &control) { control in
            unsafe withUnsafeMutablePointer(to: &part) { part in
                var message = unsafe msghdr()
                unsafe message.msg_iov = part
                unsafe message.msg_iovlen = 1
                unsafe message.msg_control = control.baseAddress
                unsafe message.msg_controllen = length
                let count = unsafe recvmsg(descriptor.number, &message, Int32(MSG_CMSG_CLOEXEC))
                return (count, errno, unsafe message.msg_controllen)
            }
        }
        if count > 0, controlBytes >= length, control.length == length, control.level == SOL_SOCKET,
            control.type == Int32(SCM_RIGHTS)
        {
            passed(Descriptor(control.number))
        }
        errno = code
        return count
    }
}

/// Waits until a descriptor is ready, the deadline passes or a signal arrives.
package func waitUntilReady(_ descriptors: inout [pollfd], until deadline: Deadline) {
    for index in descriptors.indices { descriptors[index].revents = 0 }
    let ready = unsafe poll(&descriptors, nfds_t(descriptors.count), deadline.pollTimeout)
    if ready < 0 {
        for index in descriptors.indices { descriptors[index].revents = 0 }
    }
}

package import AuthWire
import Foundation

/// A client that says exactly what a test wants, bytes and all. It blocks: use it in `onThread`.
package final class RawClient {
    private let descriptor: Int32
    private var received: [UInt8] = []

    /// - Parameter timeout: for each call; longer is a failed test, not a slow one.
    package init(_ path: String, timeout: Int = 20) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        try Self.connect(descriptor, to: &address, timeout)
    }

    /// To a port of 127.0.0.1.
    package init(port: Int, timeout: Int = 20) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        try Self.connect(descriptor, to: &address, timeout)
    }

    private static func connect<Address>(
        _ descriptor: Int32, to address: inout Address, _ timeout: Int
    ) throws {
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
            }
        }
        guard connected == 0 else {
            let reason = String(cString: strerror(errno))
            Foundation.close(descriptor)
            throw Failure("connect: \(reason)")
        }
        var limit = timeval(tv_sec: timeout, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit {
        Foundation.close(descriptor)
    }

    package func send(_ text: String) throws { try send(Array(text.utf8)) }

    package func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure("send: \(String(cString: strerror(errno)))") }
            rest = rest.dropFirst(count)
        }
    }

    /// As much as the socket takes now; 0 when it takes nothing.
    package func sendWithoutWaiting(_ bytes: [UInt8]) -> Int {
        max(0, Foundation.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT)))
    }

    /// Whether the other side has closed the connection, without reading what it sent.
    package var isHungUp: Bool {
        var state = pollfd(fd: descriptor, events: 0, revents: 0)
        return poll(&state, 1, 0) > 0 && Int32(state.revents) & Int32(POLLHUP | POLLERR) != 0
    }

    package func endWriting() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// The next line; `nil` at the end of the connection.
    package func line() throws -> String? {
        while true {
            if let end = received.firstIndex(of: 10) {
                defer { received.removeSubrange(...end) }
                return String(decoding: received[..<end], as: UTF8.self)
            }
            guard try receive() else { return nil }
        }
    }

    package func json() throws -> JSON {
        guard let line = try line() else { throw Failure("the connection has ended") }
        return try JSON(parsing: line)
    }

    /// The next line, if some of it has come already.
    package func jsonAlready() throws -> JSON? {
        var byte: UInt8 = 0
        let isThere = recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) > 0
        guard !received.isEmpty || isThere else { return nil }
        return try json()
    }

    /// Returns at the end of the connection, with what came before it.
    /// - Parameter limit: how many bytes are read at once.
    package func rest(readingAtMost limit: Int = 65536) throws -> String {
        while try receive(atMost: limit) {}
        defer { received = [] }
        return String(decoding: received, as: UTF8.self)
    }

    /// The next line, and the descriptor that came with it, which the caller closes. No earlier line may wait.
    package func jsonAndDescriptor() throws -> (answer: JSON, descriptor: Int32?) {
        guard received.isEmpty else { throw Failure("an earlier line has not been read") }
        var passed: Int32?
        while !received.contains(10) {
            var room = [UInt8](repeating: 0, count: 65536)
            // A cmsghdr: its length, the level, the type, then the descriptor.
            var control = [UInt32](repeating: 0, count: 6)
            let count = room.withUnsafeMutableBytes { room in
                var part = iovec(iov_base: room.baseAddress, iov_len: room.count)
                return withUnsafeMutablePointer(to: &part) { part in
                    control.withUnsafeMutableBytes { control in
                        var message = msghdr()
                        (message.msg_iov, message.msg_iovlen) = (part, 1)
                        (message.msg_control, message.msg_controllen) = (control.baseAddress, control.count)
                        return recvmsg(descriptor, &message, Int32(MSG_CMSG_CLOEXEC))
                    }
                }
            }
            guard count > 0 else { throw Failure("receive: \(count) \(String(cString: strerror(errno)))") }
            if control[2] == UInt32(SOL_SOCKET), control[3] == UInt32(SCM_RIGHTS) {
                passed = Int32(bitPattern: control[4])
            }
            received += room[..<count]
        }
        return (try json(), passed)
    }

    /// One request and the answer to it.
    package func ask(_ method: String, _ params: JSON = [:], id: JSON = 1) throws -> JSON {
        try send(Self.request(method, params, id: id))
        return try json()
    }

    package static func request(_ method: String, _ params: JSON = [:], id: JSON? = 1) -> String {
        var object: JSONObject = ["jsonrpc": "2.0", "method": .string(method), "params": params]
        object["id"] = id
        return JSON.object(object).text() + "\n"
    }

    private func receive(atMost limit: Int = 65536) throws -> Bool {
        var buffer = [UInt8](repeating: 0, count: limit)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count > 0 { received += buffer[..<count] }
        if count < 0, errno == ECONNRESET { return false }
        guard count >= 0 else { throw Failure("receive: \(String(cString: strerror(errno)))") }
        return count > 0
    }
}

extension JSON {
    package var errorKind: String? { self["error"]?["data"]?["kind"]?.stringValue }
    package var errorCause: String? { self["error"]?["data"]?["cause"]?.stringValue }
    package var errorCode: Int64? { self["error"]?["code"]?.integerValue }
}

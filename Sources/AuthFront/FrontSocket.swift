package import AuthFiles
package import AuthGateway
package import AuthSockets
import Glibc
import NIOCore

/// A listening socket of a front.
package struct FrontSocket: Sendable {
    package enum Refusal: Error, Sendable, Equatable, CustomStringConvertible {
        case folder(SocketFolder.Refusal)
        case file(SocketFile.Refusal)
        case inUse(String)
        case failed(SystemFailure)
        case notLoopback(name: String)

        package var description: String {
            switch self {
            case .folder(let refusal): "\(refusal)".replacing("--socket", with: "--listen")
            case .file(let refusal): "\(refusal)".replacing("--socket", with: "--listen")
            case .inUse(let address): "another program listens at \(address): stop it, or choose another with --listen"
            case .failed(let failure): "\(failure)"
            case .notLoopback(let name):
                "the socket '\(name)' of the service manager is neither a Unix socket nor on a loopback address"
            }
        }
    }

    package let descriptor: CInt
    /// With the port that the system chose.
    package let address: FrontAddress
    /// `FileDescriptorName=` if the service manager passed it.
    package let name: String?
    private let file: SocketFile?
    private let lock: LockFile?

    /// The folder of a Unix socket must be ours, and closed to others.
    package static func open(_ address: FrontAddress) throws(Refusal) -> FrontSocket {
        switch address {
        case .unix(let path): try open(path: path)
        case .loopback(let host, let port): try open(host: host, port: port)
        }
    }

    /// What the service manager passed. Call it before any thread is started: it removes the variables.
    package static func passed() throws(Refusal) -> [FrontSocket] {
        let variables = ListenVariables(processID: getpid()) { name in
            unsafe getenv(name).map { unsafe String(cString: $0) }
        }
        for name in ListenVariables.names { unsafe unsetenv(name) }
        var sockets: [FrontSocket] = []
        for passed in variables.sockets {
            _ = fcntl(passed.number, F_SETFD, FD_CLOEXEC)
            guard let address = Self.address(of: passed.number) else { throw .notLoopback(name: passed.name) }
            sockets.append(
                FrontSocket(
                    descriptor: passed.number, address: address, name: passed.name, file: nil, lock: nil))
        }
        return sockets
    }

    /// Removes the file of a Unix socket that ``open(_:)`` made.
    package func remove() { file?.removeIfOurs() }

    private static func open(path: String) throws(Refusal) -> FrontSocket {
        do throws(SocketFolder.Refusal) {
            try SocketFolder.prepare(PrivateFolder.parent(of: path))
        } catch {
            throw .folder(error)
        }
        let lock: LockFile
        do throws(LockFile.Refusal) {
            lock = try LockFile(beside: path)
        } catch {
            if case .failed(let failure) = error { throw .failed(failure) }
            throw .inUse(path)
        }
        do throws(SocketFile.Refusal) {
            let file = try SocketFile.bind(path: path)
            return FrontSocket(
                descriptor: file.descriptor, address: .unix(path: path), name: nil, file: file, lock: lock)
        } catch {
            throw .file(error)
        }
    }

    private static func open(host: String, port: Int) throws(Refusal) -> FrontSocket {
        let shown = FrontAddress.loopback(host: host, port: port).description
        guard let address = try? SocketAddress(ipAddress: host, port: port) else { throw .inUse(shown) }
        let family = host == "::1" ? AF_INET6 : AF_INET
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .failed(SystemFailure("create a socket")) }
        var on: CInt = 1
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<CInt>.size))
        let bound = unsafe address.withSockAddr { unsafe Glibc.bind(descriptor, $0, socklen_t($1)) }
        guard bound == 0, listen(descriptor, 128) == 0, let found = Self.address(of: descriptor) else {
            let number = errno
            close(descriptor)
            throw number == EADDRINUSE
                ? Refusal.inUse(shown) : Refusal.failed(SystemFailure("listen at \(shown)", number: number))
        }
        return FrontSocket(descriptor: descriptor, address: found, name: nil, file: nil, lock: nil)
    }

    /// `nil` for an address that other machines can reach, and for anything but a socket.
    private static func address(of descriptor: CInt) -> FrontAddress? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe getsockname(descriptor, generic, &length)
            }
        }
        guard result == 0 else { return nil }
        let bytes = unsafe withUnsafeBytes(of: &storage) { unsafe Array($0.prefix(Int(length))) }
        switch Int32(storage.ss_family) {
        case AF_UNIX: return .unix(path: String(decoding: bytes.dropFirst(2).prefix { $0 != 0 }, as: UTF8.self))
        case AF_INET:
            guard bytes.count >= 8, bytes[4] == 127 else { return nil }
            let host = bytes[4..<8].map { String($0) }.joined(separator: ".")
            return .loopback(host: host, port: Int(bytes[2]) << 8 | Int(bytes[3]))
        case AF_INET6:
            guard bytes.count >= 24, bytes[8..<23].allSatisfy({ $0 == 0 }), bytes[23] == 1 else { return nil }
            return .loopback(host: "::1", port: Int(bytes[2]) << 8 | Int(bytes[3]))
        default: return nil
        }
    }
}

package import AuthFiles
import CLinux
import Glibc

/// A listening Unix socket, and who removes its file.
///
/// The caller has the ``LockFile`` of the path from before ``bind(path:)`` until after ``removeIfOurs()``.
package struct SocketFile: Sendable {
    package enum Refusal: Error, Sendable, Equatable, CustomStringConvertible {
        case notASocket(path: String)
        /// A program without our lock listens there.
        case inUse(path: String)
        case tooLong(path: String)
        case failed(SystemFailure)

        package var description: String {
            switch self {
            case .notASocket(let path): "\(path) exists and is not a socket: remove it, or choose another with --socket"
            case .inUse(let path): "another program listens at \(path): stop it, or choose another with --socket"
            case .tooLong(let path): "the socket path \(path) is longer than 107 bytes (unix(7)): choose a shorter one"
            case .failed(let failure): "\(failure)"
            }
        }
    }

    /// For a burst of clients before the loop accepts them; connect(2) does not wait then.
    static let backlog: CInt = 1024

    package let descriptor: CInt
    package let path: String
    /// `nil` for a socket from systemd, which we must not remove.
    private let identity: FileIdentity?

    /// Binds and listens. The mode is 0600 from the moment the file exists. A dead socket is removed first.
    package static func bind(path: String) throws(Refusal) -> SocketFile {
        guard var address = sockaddr_un(path: path) else { throw .tooLong(path: path) }
        try clearDead(path: path, address: &address)
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .failed(SystemFailure("create a socket")) }
        do throws(SystemFailure) {
            // The kernel gives the file the mode of the socket's inode, less the umask. If it is set before bind, it is never
            // wider, and the umask of other threads does not change.
            guard fchmod(descriptor, 0o600) == 0 else { throw SystemFailure("set the mode of \(path)") }
            guard unsafe call(Glibc.bind, descriptor, &address) == 0 else { throw SystemFailure("bind \(path)") }
            // Before anyone can connect: the first bytes of a client must bring their sender, too.
            guard linux_pass_credentials(descriptor) == 0 else { throw SystemFailure("receive credentials at \(path)") }
            linux_refuse_descriptors(descriptor)
            guard listen(descriptor, backlog) == 0 else { throw SystemFailure("listen at \(path)") }
            guard let identity = FileIdentity(path: path) else { throw SystemFailure("read the status of \(path)") }
            return SocketFile(descriptor: descriptor, path: path, identity: identity)
        } catch {
            close(descriptor)
            throw .failed(error)
        }
    }

    /// A socket that systemd bound and passed to us (sd_listen_fds(3)).
    ///
    /// Its unit has PassCredentials=. This is for a unit that does not.
    package static func inherited(descriptor: CInt, path: String) -> SocketFile {
        receiveCredentials(descriptor)
        linux_refuse_descriptors(descriptor)
        return SocketFile(descriptor: descriptor, path: path, identity: nil)
    }

    /// What is received from now on brings the credentials of its sender (SO_PASSCRED of unix(7)).
    package static func receiveCredentials(_ descriptor: CInt) { _ = linux_pass_credentials(descriptor) }

    /// Removes the file if it is still the one that ``bind(path:)`` made.
    package func removeIfOurs() {
        guard let identity, FileIdentity(path: path) == identity else { return }
        unsafe unlink(path)
    }

    /// Whether clients that use the path reach this socket. It is not known of a socket from systemd.
    package var isInPlace: Bool {
        guard let identity, let found = FileIdentity(path: path) else { return identity == nil }
        return found.device == identity.device && found.inode == identity.inode
    }

    private static func clearDead(path: String, address: inout sockaddr_un) throws(Refusal) {
        var found = stat()
        guard unsafe lstat(path, &found) == 0 else {
            if errno == ENOENT { return }
            throw .failed(SystemFailure("read the status of \(path)"))
        }
        guard found.st_mode & S_IFMT == S_IFSOCK else { throw .notASocket(path: path) }
        let probe = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard probe >= 0 else { throw .failed(SystemFailure("create a socket")) }
        defer { close(probe) }
        if unsafe call(Glibc.connect, probe, &address) == 0 { throw .inUse(path: path) }
        // Only this means that nobody listens. With a full queue (EAGAIN) or without permission (EACCES) somebody may.
        guard errno == ECONNREFUSED else { throw .inUse(path: path) }
        guard unsafe unlink(path) == 0 else { throw .failed(SystemFailure("remove the dead socket \(path)")) }
    }

    private static func call(
        _ function: (CInt, UnsafePointer<sockaddr>, socklen_t) -> CInt, _ descriptor: CInt,
        _ address: inout sockaddr_un
    ) -> CInt {
        unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe function(descriptor, generic, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}

/// Identifies the file at a path. The inode number is not enough: a new file may get the number of a removed one.
package struct FileIdentity: Sendable, Equatable {
    package let device: UInt64
    package let inode: UInt64
    private let modified: Duration

    package init?(path: String) {
        var found = stat()
        guard unsafe lstat(path, &found) == 0 else { return nil }
        self.init(found)
    }

    package init?(descriptor: CInt) {
        var found = stat()
        guard unsafe fstat(descriptor, &found) == 0 else { return nil }
        self.init(found)
    }

    private init(_ found: stat) {
        device = UInt64(found.st_dev)
        inode = UInt64(found.st_ino)
        modified = .seconds(found.st_mtim.tv_sec) + .nanoseconds(found.st_mtim.tv_nsec)
    }
}

extension sockaddr_un {
    /// `nil` if the path with its final zero is too long.
    init?(path: String) {
        self.init()
        sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let room = MemoryLayout.size(ofValue: sun_path)
        guard !bytes.isEmpty, bytes.count < room else { return nil }
        unsafe withUnsafeMutableBytes(of: &sun_path) { unsafe $0.copyBytes(from: bytes) }
    }
}

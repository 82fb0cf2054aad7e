import AuthModel
import CSandbox
import Glibc
import Logging
import Synchronization

/// The mounted file systems that this process sees, and where the description of their files comes from
/// (proc_pid_mountinfo(5)).
///
/// It does not ask a file system for its kind (statfs(2)), because a user's file system may not answer. It reads the
/// kernel's list, and reads it again after each change.
final class MountTable: Sendable {
    static let current = MountTable()

    enum Source: Sendable, Equatable {
        /// The kernel, from a disk or from memory.
        case kernel
        /// A server or a process of root, with a file system that root has mounted. A file number may belong to several
        /// files, or change. This includes a disk whose file system keeps no status time.
        case server
        /// A user's process (FUSE): it can report anything about a file.
        case user
    }

    struct Mount: Equatable {
        let point: String
        let source: Source
    }

    private struct State {
        var descriptor: CInt = -1
        var mounts: [UInt64: Mount] = [:]
        /// The list is too long, so nothing is known until it changes.
        var isTooLong = false
    }

    private enum Reading {
        case text(String)
        case tooLong
        case failure
    }

    /// Far more than on a machine with a thousand containers.
    private static let usualMost = 8 << 20

    private let path: String
    private let mostBytes: Int
    private let state = Mutex(State())

    /// - Parameter mostBytes: a longer list is not used.
    init(path: String = "/proc/self/mountinfo", mostBytes: Int = usualMost) {
        (self.path, self.mostBytes) = (path, mostBytes)
    }

    deinit {
        let descriptor = state.withLock { $0.descriptor }
        if descriptor >= 0 { close(descriptor) }
    }

    /// Where the description of a file comes from; `nil`: it is not known that the path leads to it.
    /// - Parameters:
    ///   - path: the path of the file, as the kernel shows it.
    ///   - mount: the number of the mount in which the file was opened; 0 if unknown.
    func source(of path: String, _ number: FileNumber, mount: UInt64) -> Source? {
        let mounts = present()
        if let own = mounts[mount] { return own.source }
        // The file was opened in another view of the files, where anything may be mounted at the path. So the path must
        // lead to the same file here. This follows no link and asks no file system.
        let onTheWay = mounts.values.filter { Self.contains($0.point, path) }
        var file = sandbox_file()
        guard !onTheWay.isEmpty, onTheWay.allSatisfy({ $0.source == .kernel }),
            unsafe sandbox_describe_plain(path, &file) == 0,
            FileNumber(device: file.device, inode: file.inode) == number
        else { return nil }
        // The list has outdated paths if a folder above a mount was renamed, and it may have changed since. So this
        // checks the mount that the path led to.
        let found = mounts[file.mount]
        return found?.source == .kernel && present()[file.mount] == found ? .kernel : nil
    }

    /// Also true if the path is the mount point: a single file can be mounted.
    private static func contains(_ point: String, _ path: String) -> Bool {
        guard point != "/", path != point else { return true }
        return path.utf8.starts(with: point.utf8) && path.utf8.dropFirst(point.utf8.count).first == slash
    }

    private static let slash = UInt8(ascii: "/")

    // MARK: Reading

    private func present() -> [UInt64: Mount] {
        state.withLock { state in
            if state.descriptor < 0 {
                state.descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
                guard state.descriptor >= 0 else { return [:] }
            } else if !hasChanged(state.descriptor) {
                return state.mounts
            }
            let wasTooLong = state.isTooLong
            (state.mounts, state.isTooLong) = ([:], false)
            switch read(state.descriptor) {
            case .text(let text): state.mounts = Self.mounts(in: text)
            case .tooLong:
                state.isTooLong = true
                if !wasTooLong { reportLength() }
            case .failure: break
            }
            if state.mounts.isEmpty, !state.isTooLong {
                close(state.descriptor)
                state.descriptor = -1
            }
            return state.mounts
        }
    }

    private func reportLength() {
        AgentLog(level: .warning).logger().warning(
            "The list of mounts is longer than \(mostBytes) bytes. Until it is shorter, the programs of clients are unknown."
        )
    }

    /// The kernel reports each change once.
    private func hasChanged(_ descriptor: CInt) -> Bool {
        var change = pollfd(fd: descriptor, events: CShort(POLLPRI), revents: 0)
        return unsafe poll(&change, 1, 0) != 0
    }

    private func read(_ descriptor: CInt) -> Reading {
        guard lseek(descriptor, 0, SEEK_SET) == 0 else { return .failure }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 1 << 14)
        while bytes.count < mostBytes {
            let count = unsafe Glibc.read(descriptor, &part, part.count)
            if count == 0 { return .text(String(decoding: bytes, as: UTF8.self)) }
            guard count > 0 else { return .failure }
            bytes += part[..<count]
        }
        return .tooLong
    }

    /// The mounts by number. An invalid line is left out, so the source of files on that mount is unknown.
    static func mounts(in text: String) -> [UInt64: Mount] {
        var mounts: [UInt64: Mount] = [:]
        // Bytes: a user chooses some names, and a mark at the beginning of one is one character with the separator.
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            let fields = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
                .map { Substring($0) }
            guard let number = fields.first.flatMap({ UInt64($0) }), fields.count > 5,
                let end = fields[6...].firstIndex(of: Self.separator), fields.count > end + 3, !fields[end + 1].isEmpty
            else { continue }
            let source = source(of: fields[end + 1], options: fields[end + 3])
            mounts[number] = Mount(point: plain(fields[4]), source: source)
        }
        return mounts
    }

    /// Ends the optional fields, of which there may be any number.
    private static let separator: Substring = "-"

    /// The kernel writes spaces, tabs, newlines and backslashes as octal numbers.
    private static func plain(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), digits.count == 3,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
            {
                bytes.append(value)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func source(of kind: Substring, options: Substring) -> Source {
        let base = Substring(kind.utf8.prefix { $0 != UInt8(ascii: ".") })
        if base == "fuse" || base == "fuseblk" {
            // `user_id` is the user who has mounted and serves it.
            let isOfRoot = options.utf8.split(separator: UInt8(ascii: ",")).contains { Substring($0) == "user_id=0" }
            return isOfRoot ? .server : .user
        }
        return local.contains(base) ? .kernel : .server
    }

    /// The kernel reads these from a disk or has them in memory. All others may ask a server or a process. FAT (vfat,
    /// msdos, exfat) is left out: it has no separate status time, so a program can set it.
    private static let local: Set<Substring> = [
        "bcachefs", "btrfs", "cramfs", "devtmpfs", "ecryptfs", "erofs", "ext2", "ext3", "ext4", "f2fs", "iso9660",
        "jffs2", "jfs", "nilfs2", "ntfs3", "overlay", "ramfs", "reiserfs", "rootfs", "squashfs", "tmpfs", "ubifs",
        "udf", "ufs", "xfs", "zfs",
    ]
}

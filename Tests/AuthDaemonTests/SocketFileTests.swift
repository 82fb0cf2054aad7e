import AuthDaemon
import AuthFiles
import AuthModel
import AuthSockets
import AuthWire
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("The socket's folder, lock and file")
struct SocketFileTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test("a missing folder is created with 0700")
    func madeClosed() throws {
        let path = folder.path + "/authd"
        try SocketFolder.prepare(path)
        #expect(mode(of: path) == 0o700)
        try SocketFolder.prepare(path)
    }

    @Test(
        "a folder open to others, a link and a file are refused, and nothing changes",
        arguments: [0o755, 0o710, 0o702])
    func refusedFolders(bits: mode_t) throws {
        let path = folder.path + "/open"
        mkdir(path, 0o700)
        chmod(path, bits)
        #expect(throws: SocketFolder.Refusal.open(path: path, mode: bits)) { try SocketFolder.prepare(path) }
        #expect(mode(of: path) == bits)
        let link = folder.path + "/link"
        symlink(folder.path, link)
        #expect(throws: SocketFolder.Refusal.notAFolder(path: link)) { try SocketFolder.prepare(link) }
        let file = try folder.write("", to: "file")
        #expect(throws: SocketFolder.Refusal.notAFolder(path: file)) { try SocketFolder.prepare(file) }
    }

    @Test(
        "chmod is suggested for a folder of the user only, not for one of root or one writable for all",
        arguments: [(0o755, 1000, true), (0o1777, 1000, false), (0o777, 1000, false), (0o755, 0, false)])
    func advice(mode: UInt32, userID: UInt32, isAdvised: Bool) {
        #expect(SocketFolder.Refusal.isShared(mode: mode, userID: userID) == !isAdvised)
    }

    @Test("the path of the chmod that is suggested is in quotes if a shell needs them")
    func quotedPath() throws {
        let key = try folder.write("a key of 32 bytes, which is ours", to: "the key")
        chmod(key, 0o644)
        let expected = "the key \(key) is accessible to others: run `chmod 600 '\(key)'`"
        #expect(throws: StoreError.failed(reason: expected)) { try KeyFile.read(key) }
        // Root is advised to choose another folder.
        if geteuid() != 0 {
            let refusal = SocketFolder.Refusal.open(path: "/a b", mode: 0o755)
            #expect(refusal.description.contains("run `chmod 700 '/a b'`"))
        }
    }

    @Test("a folder of another user is refused")
    func foreignFolder() throws {
        // Only root can give a folder away; other users find one of root.
        let given = folder.path + "/foreign"
        mkdir(given, 0o700)
        let (path, owner): (String, uid_t) = chown(given, 65534, 65534) == 0 ? (given, 65534) : ("/usr", 0)
        #expect(throws: SocketFolder.Refusal.foreign(path: path, owner: owner)) { try SocketFolder.prepare(path) }
    }

    @Test("a folder with a missing parent is reported with the system's message")
    func missingParent() {
        let path = folder.path + "/none/authd"
        #expect(throws: SocketFolder.Refusal.failed(SystemFailure("create the folder \(path)", number: ENOENT))) {
            try SocketFolder.prepare(path)
        }
    }

    @Test("a second lock names the holder of the first, and does not disturb it")
    func secondLock() throws {
        let socket = folder.path + "/socket"
        var first: LockFile? = try LockFile(beside: socket)
        #expect(throws: LockFile.Refusal.held(processID: getpid())) { try LockFile(beside: socket) }
        #expect(throws: LockFile.Refusal.held(processID: getpid())) { try LockFile(beside: socket) }
        #expect(mode(of: socket + ".lock") == 0o600)
        #expect(first != nil)
        first = nil
        _ = try LockFile(beside: socket)
    }

    @Test(
        "a lock file names only its holder, whatever it contained before",
        arguments: ["", "7\n", "1234567890123\nmore\n"])
    func formerHolder(text: String) throws {
        let socket = folder.path + "/socket"
        try Data(text.utf8).write(to: URL(fileURLWithPath: socket + ".lock"))
        let lock = try LockFile(beside: socket)
        #expect(try String(contentsOfFile: lock.path, encoding: .utf8) == "\(getpid())\n")
    }

    @Test("the socket is 0600 as soon as it is visible, with any umask")
    func neverWider() async throws {
        let path = folder.path + "/socket"
        let seen = Watch(path)
        async let watching = onThread { seen.watch() }
        let former = try Self.umaskOfProcess()
        try await onThread {
            defer { seen.end() }
            // That of this thread only: other tests create files meanwhile.
            try separateFileSettings()
            umask(0)
            for _ in 0..<300 {
                let socket = try SocketFile.bind(path: path)
                close(socket.descriptor)
                socket.removeIfOurs()
            }
            #expect(try Self.umaskOfProcess() == former)
        }
        let modes = try await watching
        #expect(modes.isSubset(of: [0o600]))
        #expect(mode(of: path) == nil)
    }

    /// That of the first thread (proc(5)).
    private static func umaskOfProcess() throws -> String {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        return try #require(status.split(separator: "\n").first { $0.hasPrefix("Umask:") }.map(String.init))
    }

    @Test("a dead socket is removed, a live one is not")
    func deadAndAlive() throws {
        let path = folder.path + "/socket"
        let first = try SocketFile.bind(path: path)
        #expect(throws: SocketFile.Refusal.inUse(path: path)) { try SocketFile.bind(path: path) }
        _ = try RawClient(path)
        close(first.descriptor)
        let second = try SocketFile.bind(path: path)
        _ = try RawClient(path)
        // The end of the first one does not affect the second.
        first.removeIfOurs()
        _ = try RawClient(path)
        close(second.descriptor)
        second.removeIfOurs()
        #expect(mode(of: path) == nil)
    }

    @Test("a file that is not a socket is never removed, and a path that is too long is reported first")
    func refusedPaths() throws {
        let file = try folder.write("mine", to: "file")
        #expect(throws: SocketFile.Refusal.notASocket(path: file)) { try SocketFile.bind(path: file) }
        #expect(mode(of: file) != nil)
        let long = folder.path + "/" + String(repeating: "x", count: 108)
        #expect(throws: SocketFile.Refusal.tooLong(path: long)) { try SocketFile.bind(path: long) }
    }

    @Test("a peer's process and user come from the kernel")
    func peer() throws {
        var pair: [Int32] = [0, 0]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        defer { for descriptor in pair { close(descriptor) } }
        #expect(PeerCredentials(descriptor: pair[0]) == PeerCredentials(processID: getpid(), userID: geteuid()))
        #expect(PeerCredentials(descriptor: STDERR_FILENO + 1000) == nil)
    }

    @Test("only the owner and users in the settings are served; root has no special right")
    func policy() {
        let policy = PeerPolicy(ownUserID: 1000, allowedUserIDs: [1001])
        #expect(policy.refusal(of: PeerCredentials(processID: 1, userID: 1000)) == nil)
        #expect(policy.refusal(of: PeerCredentials(processID: 1, userID: 1001)) == nil)
        #expect(policy.refusal(of: PeerCredentials(processID: 1, userID: 0))?.kind == .denied)
        #expect(policy.refusal(of: PeerCredentials(processID: 1, userID: 1002))?.kind == .denied)
        let rootToo = PeerPolicy(ownUserID: 1000, allowedUserIDs: [0])
        #expect(rootToo.refusal(of: PeerCredentials(processID: 1, userID: 0)) == nil)
    }
}

/// `Tests/run-suites` skips suites with this name unless it runs as root.
@Suite("The socket's folder (as root)")
struct SocketFolderRootTests {
    @Test("that is open to others is refused without advice to close it: /tmp, or another system folder")
    func noAdvice() throws {
        let folder = try TemporaryFolder()
        for (path, bits) in [("/tmp", nil), (folder.path, 0o1777), (folder.path, 0o755)] as [(String, mode_t?)] {
            if let bits { #expect(chmod(path, bits) == 0) }
            let refusal = #expect(throws: SocketFolder.Refusal.self) { try SocketFolder.prepare(path) }
            guard case .open = refusal else {
                Issue.record("\(path): \(String(describing: refusal))")
                continue
            }
            let words = try #require(refusal).description
            #expect(words.contains("choose your own folder with --socket") && !words.contains("chmod"), "\(words)")
        }
    }
}

/// Reads the mode of a path as often as possible.
private final class Watch: Sendable {
    private let path: String
    private let ended = Atomic<Bool>(false)

    init(_ path: String) {
        self.path = path
    }

    func watch() -> Set<UInt32> {
        var modes: Set<UInt32> = []
        while !ended.load(ordering: .relaxed) {
            if let mode = mode(of: path) { modes.insert(mode) }
        }
        return modes
    }

    func end() { ended.store(true, ordering: .relaxed) }
}

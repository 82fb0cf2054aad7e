import AuthModel
import AuthWire
import CSandbox
import Foundation
import Glibc
import TestSupport
import Testing

@testable import AuthDaemon

@Suite("Where the description of a program's file comes from", .timeLimit(.minutes(1)))
struct MountTableTests {
    @Test("the kernel's list distinguishes file systems of the kernel, of a server and of a user's process")
    func kinds() {
        func mount(_ text: String) -> MountTable.Mount? { MountTable.mounts(in: text)[7] }
        let cases: [(String, String, MountTable.Source)] = [
            ("ext4", "rw", .kernel), ("btrfs", "rw,subvol=/@", .kernel), ("overlay", "rw,lowerdir=/a", .kernel),
            ("tmpfs", "rw", .kernel), ("9p", "rw,trans=virtio", .server), ("virtiofs", "rw", .server),
            ("nfs4", "rw,vers=4.2", .server), ("cifs", "rw,uid=1000,user_id=0", .server), ("new", "rw", .server),
            ("fuse.sshfs", "rw,user_id=1000,group_id=1000", .user), ("fuse", "rw,user_id=1000", .user),
            ("fuse.mergerfs", "rw,user_id=0,group_id=0,allow_other", .server), ("fuseblk", "rw,user_id=0", .server),
            ("fuse", "rw", .user), ("fuse.x", "rw,user_id=01", .user),
            // Each user may mount a file system of such a kind: the dot and the mark after it are one character.
            ("fuse.\u{301}x", "rw,user_id=1000", .user), ("fuse.\u{301}x", "rw,user_id=0", .server),
            // A program can set the status time on these.
            ("vfat", "rw,uid=1000", .server), ("msdos", "rw", .server), ("exfat", "rw", .server),
        ]
        for (kind, options, source) in cases {
            for fields in ["", " shared:1", " shared:1 master:2 unbindable"] {
                let line = "7 1 0:53 / /mnt/a rw,relatime\(fields) - \(kind) none \(options)\n"
                #expect(mount(line) == MountTable.Mount(point: "/mnt/a", source: source), "\(line)")
            }
        }
        // A source that is empty, and spaces, backslashes and a separator in names.
        #expect(mount("7 1 0:5 / /a rw -  fuse none rw,user_id=0") == nil)
        #expect(mount("7 1 0:5 / /a rw - tmpfs  rw")?.source == .kernel)
        let marks = "7 1 0:5 / /a\u{600} rw - fuse.x\u{600} \u{301}a\u{600} rw,user_id=1000\n"
        #expect(mount(marks) == MountTable.Mount(point: "/a\u{600}", source: .user))
        #expect(mount(#"7 1 0:5 / /a\040b\134c\011- rw - xfs /dev/a rw"#)?.point == "/a b\\c\t-")
        for line in [
            "", "7", "7 1 0:5 / /a rw", "7 1 0:5 / /a rw -", "x 1 0:5 / /a rw - xfs a rw", "7 1 0:5 / /a rw - xfs a",
        ] {
            #expect(mount(line) == nil, "\(line)")
        }
        #expect(MountTable.mounts(in: "7 1 0:5 / /a rw - xfs a rw\nx\n8 1 0:6 / /b rw - 9p a rw\n").count == 2)
    }

    @Test("without the list nothing is known")
    func missing() {
        let number = FileNumber(device: 1, inode: 1)
        #expect(MountTable(path: "/nowhere").source(of: "/usr/bin/cat", number, mount: 1) == nil)
    }

    /// A list of mounts in a file, and a program in another one.
    private struct List {
        private let folder: TemporaryFolder
        let program: String
        let number: FileNumber
        /// The mount that the program is in.
        let mount: UInt64
        var path: String { folder.path + "/mounts" }

        init() throws {
            folder = try TemporaryFolder()
            program = URL(filePath: folder.path).resolvingSymlinksInPath().path + "/program"
            try Data().write(to: URL(filePath: program))
            var file = sandbox_file()
            try #require(unsafe sandbox_describe(AT_FDCWD, program, &file) == 0)
            (number, mount) = (FileNumber(device: file.device, inode: file.inode), file.mount)
        }

        func write(_ lines: [String]) throws {
            try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: URL(filePath: path))
        }

        /// The source of a file that was opened in another view of the files.
        func source(_ lines: [String]) throws -> MountTable.Source? {
            try write(lines)
            return MountTable(path: path).source(of: program, number, mount: 0)
        }
    }

    @Test("a file of another view is known only if the mount that its path leads to here is the kernel's")
    func foundMount() throws {
        let list = try List()
        let root = "\(UInt64.max) 0 0:1 / / rw - ext4 a rw"
        func own(_ point: String, _ kind: String) -> String { "\(list.mount) 1 0:2 / \(point) rw - \(kind) a rw" }
        #expect(try list.source([root, own("/", "ext4")]) == .kernel)
        // A file that is mounted itself, as FUSE and mount --bind can.
        let single = "\(UInt64.max - 1) 1 0:3 / \(list.program) rw - fuse a rw,user_id=1000"
        #expect(try list.source([root, own("/", "ext4"), single]) == nil)
        // A folder above the mount was renamed, which the kernel does not report.
        for kind in ["fuse", "nfs4", "new"] { #expect(try list.source([root, own("/former", kind)]) == nil) }
        #expect(try list.source([root, own("/former", "ext4")]) == .kernel)
        // It was mounted after the list was read.
        #expect(try list.source([root]) == nil)
        // A mount at a longer name is not on the path.
        #expect(
            try list.source([root, own("/", "ext4"), "\(UInt64.max - 1) 1 0:3 / \(list.program)x rw - nfs a rw"])
                == .kernel)
    }

    @Test("a file is described by its path only if the kernel knows it already, so that no file system is asked")
    func knownPath() async throws {
        // The kernel does not know a file of a new process in /proc before the first look-up. Another program may
        // look it up first, but hardly for each of ten processes.
        var wasUnknown = false
        for _ in 0..<10 where !wasUnknown {
            let child = try await Child(["/usr/bin/sleep", "infinity"], environment: [:])
            let path = "/proc/\(child.pid)/personality"
            var file = sandbox_file()
            let (result, failure) = (unsafe sandbox_describe_plain(path, &file), errno)
            #expect(result == 0 || failure == EAGAIN, "\(failure)")
            wasUnknown = result != 0
            // Now it is known.
            #expect(unsafe sandbox_describe(AT_FDCWD, path, &file) == 0)
            #expect(unsafe sandbox_describe_plain(path, &file) == 0)
            await child.end(SIGKILL)
        }
        #expect(wasUnknown)
    }

    @Test("a list that is too long is not read again before it changes")
    func tooLong() throws {
        let list = try List()
        let line = "\(list.mount) 1 0:2 / / rw - ext4 a rw"
        try list.write([line, line])
        let table = MountTable(path: list.path, mostBytes: line.utf8.count + 2)
        func source() -> MountTable.Source? { table.source(of: list.program, list.number, mount: list.mount) }
        #expect(source() == nil)
        // A file reports no changes, as the kernel's list does.
        try list.write([line])
        #expect(source() == nil)
        #expect(try list.source([line]) == .kernel)
    }

    @Test("a file that a process in other namespaces has mounted over a program is not known by that program's path")
    func otherView() async throws {
        let folder = try TemporaryFolder()
        let cat = URL(filePath: "/usr/bin/cat").resolvingSymlinksInPath().path
        let other = folder.path + "/other"
        try FileManager.default.copyItem(atPath: "/usr/bin/sleep", toPath: other)
        let script = "mount --bind '\(other)' '\(cat)' && echo ready && read line"
        let holder = try await Child(
            ["unshare", "--map-root-user", "--mount", "sh", "-c", script], environment: ["PATH": "/usr/bin:/bin"],
            input: .held)
        #expect(try await until { holder.out.text.contains("ready") })
        // Both processes are in the agent's namespaces. Only their files were opened elsewhere.
        let view = "/proc/\(holder.pid)/root"
        func program(_ path: String, _ arguments: [String]) async throws -> (Child, ProcessReader.Program) {
            let child = try await Child([view + path] + arguments, environment: [:], input: .held)
            let folder = "/proc/\(child.pid)"
            #expect(try await until { try ProcessReader.program(of: folder)?.path == path })
            return (child, try #require(try ProcessReader.program(of: folder)))
        }
        let (impostor, fake) = try await program(cat, ["infinity"])
        #expect(fake.source == nil && !fake.isPathKnown && fake.number == nil)
        let identity = try Self.identity(of: impostor)
        #expect(identity.executable == cat && identity.isExecutableUncertain && identity.executableFile == nil)
        // An answer about it lasts until it ends, and the question says that the path is not verified.
        let subject = try #require(PresenceSubject(identity))
        #expect(subject.isExecutableUncertain)
        let consent = await ConsentPrograms().program(subject, unit: nil, isConfined: false)
        #expect(consent.identity == .running(subject))
        let request = AccessRequest(method: "token.get", access: .token, target: .any)
        let question = ConsentQuestion(consent, request, from: .api, purpose: nil)
        #expect(question.lines[0] == "Program: not verified, shown as \(cat) (process \(impostor.pid))")
        let entry = AuditEntry(AuditedRequest(method: "token.get"), at: BootClock().now(), rule: "a", caller: identity)
        #expect(entry.item.exe == cat && entry.item.exeUncertain == true)
        // A rule that tests it denies.
        #expect(AccessFacts(identity, ownUserID: geteuid()).executable == .unknown)
        let sleep = URL(filePath: "/usr/bin/sleep").resolvingSymlinksInPath().path
        let (honest, same) = try await program(sleep, ["infinity"])
        // The path leads to the same file here. A file of a server would not be opened.
        let own = try await Child([sleep, "infinity"], environment: [:])
        #expect(try await until { try ProcessReader.program(of: "/proc/\(own.pid)")?.path == sleep })
        let isLocal = try ProcessReader.program(of: "/proc/\(own.pid)")?.source == .kernel
        #expect(same.source == (isLocal ? .kernel : nil))
        let facts = AccessFacts(try Self.identity(of: honest), ownUserID: geteuid())
        #expect(facts.executable == (isLocal ? .text(sleep) : .unknown))
        for child in [impostor, honest, own, holder] { await child.end(SIGKILL) }
    }

    /// As of a client.
    static func identity(of child: Child) throws -> CallerIdentity {
        var ends: [CInt] = [-1, -1]
        try #require(unsafe socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        let bare = CallerIdentity(listener: .api, processID: child.pid, userID: geteuid())
        let start = PeerReference.started(ProcText.startTime(of: child.pid))
        return try #require(bare.completed(start, at: .socket(ends[0]))).identity
    }
}

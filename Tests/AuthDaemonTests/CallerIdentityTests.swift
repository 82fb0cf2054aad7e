import AuthModel
import AuthSockets
import Foundation
import Glibc
import TestSupport
import Testing

@testable import AuthDaemon

@Suite("The identity of a client", .timeLimit(.minutes(1)))
struct CallerIdentityTests {
    private static let manager = "/user.slice/user-1000.slice/user@1000.service"

    @Test(
        "the unit is the first one below the user's manager, or the system's",
        arguments: [
            (manager + "/app.slice/app-editor.scope", "app-editor.scope", "app.slice", nil),
            (manager + "/app.slice/backup.service", "backup.service", "app.slice", nil),
            (manager + "/app.slice/app-x.slice/run-1.scope", "run-1.scope", "app-x.slice", nil),
            (manager + "/init.scope", "init.scope", nil, nil),
            ("/user.slice/user-1000.slice/session-3.scope", "session-3.scope", "user-1000.slice", "3"),
            ("/system.slice/ssh.service", "ssh.service", "system.slice", nil),
            ("/system.slice/docker-0a1b.scope", "docker-0a1b.scope", "system.slice", nil),
            ("/init.scope", "init.scope", nil, nil),
            // A process with a delegated group may make any group in it.
            (manager + "/app.slice/a.service/backup.service", "a.service", "app.slice", nil),
            (manager + "/app.slice/a.service/user@1000.service/app.slice/b.service", "a.service", "app.slice", nil),
            (manager + "/app.slice/a.service/session-3.scope", "a.service", "app.slice", nil),
            (manager + "/app.slice/a.service/\u{301}b", "a.service", "app.slice", nil),
            (manager + "/app.slice/a.service/b\r", "a.service", "app.slice", nil),
            // A name that the kernel uses.
            (manager + "/app.slice/_cpu.service", "cpu.service", "app.slice", nil),
            (manager + "/app.slice/gone.service (deleted)", "gone.service", "app.slice", nil),
            (manager + "/app.slice", nil, "app.slice", nil), (manager, nil, nil, nil), ("/", nil, nil, nil),
            (manager + "/app.slice/group", nil, "app.slice", nil),
            ("/user@x.service/app.slice/a.service", "user@x.service", nil, nil),
        ] as [(String, String?, String?, String?)])
    func units(path: String, unit: String?, slice: String?, session: String?) throws {
        for text in [
            "0::\(path)\n", "12:pids:/other\n1:name=systemd:\(path)\n0::/\n",
            "9:name=systemd:/\n8:pids:/\n0::\(path)\n", "12:pids:/other\r\n1:name=systemd:\(path)\n0::/\n",
        ] {
            let group = try #require(ControlGroup(text))
            #expect(group.unit == unit)
            #expect(group.slice == slice)
            #expect(group.loginSession == session)
        }
    }

    @Test("a control group with other characters, or too long a name, or of another namespace has no unit")
    func hostileGroups() {
        for text in ["", "\n", "0::", "0:/a.service", "0::relative.service\n", "1:cpu:/a.service\n", "::::\n"] {
            #expect(ControlGroup(text) == nil, "\(text)")
        }
        #expect(ControlGroup("0::/../../a.service\n") == nil)
        let names = [
            "a b.service", "a\u{1b}[31m.service", "ä.service", ".service", "_",
            String(repeating: "a", count: 300) + ".service",
        ]
        for name in names { #expect(ControlGroup("0::/app.slice/\(name)\n")?.unit == nil, "\(name)") }
        let deep = "0::" + String(repeating: "/a.slice", count: 100_000) + "/b.service\n"
        #expect(ControlGroup(deep)?.unit == "b.service")
        // What is cut off at the reader's limit.
        #expect(ControlGroup(String(repeating: "0", count: 8192)) == nil)
    }

    private static func stat(name: String = "cat", terminal: String = "0", start: String = "4711") -> String {
        "7 (\(name)) S 1 7 7 \(terminal) 7 4194304 1 2 3 4 5 6 7 8 20 0 1 0 \(start) 1000 10 18446744073709551615\n"
    }

    @Test("the start and the terminal of a process are read, whatever it calls itself")
    func status() {
        for name in ["cat", "a b", ") S 1 1 1 34816 1", "((", "", "\u{1b}[2J", "7 (x) R"] {
            #expect(ProcessStatus(Self.stat(name: name))?.startTicks == 4711, "\(name)")
            #expect(ProcessStatus(Self.stat(name: name))?.terminal == nil, "\(name)")
        }
        let terminals = [
            ("0", nil), ("34816", "pts/0"), ("34819", "pts/3"), ("1025", "tty1"), ("1088", "ttyS0"), ("1281", "5:1"),
            ("-1", "4095:1048575"), ("x", nil), ("99999999999", nil), ("35072", "pts/256"),
        ]
        for (number, name) in terminals {
            #expect(ProcessStatus(Self.stat(terminal: number))?.terminal == name, "\(number)")
        }
        #expect(ProcessStatus(Self.stat(start: "18446744073709551615"))?.startTicks == .max)
        for text in [
            "", ")", "7 (cat) S 1 7", "7 cat S 1 7", Self.stat(start: "-1"), Self.stat(start: "x"),
            Self.stat(start: "99999999999999999999"), String(repeating: "1 ", count: 100_000),
        ] {
            #expect(ProcessStatus(text) == nil)
        }
        #expect(ProcessStatus(")" + String(repeating: " 1", count: 100_000))?.startTicks == 1)
    }

    @Test("the date of a start follows from its ticks, and is unknown if it is in the future")
    func date() {
        let now = Moment(boot: BootInstant(sinceBoot: .seconds(100)), wall: WallTime(unixSeconds: 1_000_000))
        var identity = CallerIdentity(listener: .api, processID: 7, userID: 1000)
        #expect(identity.started(at: now) == nil)
        identity.startTicks = 9950
        #expect(identity.started(at: now)?.unixSeconds == 999_999.5)
        let readLater = Moment(boot: now.boot, wall: now.wall + .microseconds(300))
        #expect(identity.started(at: readLater)?.unixSeconds == 999_999.5)
        for ticks in [10_001, UInt64.max, UInt64(Int64.max)] {
            identity.startTicks = ticks
            #expect(identity.started(at: now) == nil)
        }
    }

    @Test("the process at the other end is described, with its executable, however it is found")
    func reading() throws {
        let (ours, client) = try Self.connected()
        defer { close(ours) }
        let peer = try #require(PeerCredentials(descriptor: ours))
        let (pidfd, isOurs) = PeerReference.started(1).open(getpid(), at: ours)
        defer { close(pidfd) }
        #expect(isOurs)
        let bare = Self.bare(peer)
        let identity = try #require(bare.completed(.socket, at: .socket(ours))?.identity)
        for reference in [PeerReference.descriptor(pidfd), .started(ProcText.startTime(of: getpid()))] {
            #expect(bare.completed(reference, at: .socket(ours))?.identity == identity)
        }
        _ = client
        #expect(identity.processID == getpid())
        #expect(identity.userID == geteuid())
        #expect(identity.startTicks == ProcText.startTime(of: getpid()))
        let path = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        #expect(identity.executable == path)
        let group = try ControlGroup(String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8))
        #expect(identity.unit == group?.unit)
        #expect(identity.slice == group?.slice)
    }

    @Test(
        "of a process that has ended, and of a closed connection, only the kernel's record of the connection is known")
    func ended() async throws {
        let (ours, client) = try Self.connected()
        defer { close(ours) }
        _ = client
        let folder = try TemporaryFolder()
        let listening = try SocketFile.bind(path: folder.path + "/socket")
        defer { close(listening.descriptor) }
        _ = try await SenderTests.responses("connect", listening.path)
        let theirs = accept(listening.descriptor, nil, nil)
        defer { close(theirs) }
        let gone = try #require(PeerCredentials(descriptor: theirs))
        #expect(Self.bare(gone).completed(.socket, at: .socket(theirs)) == nil)
        let peer = PeerCredentials(processID: getpid(), userID: geteuid())
        #expect(Self.bare(peer).completed(.socket, at: nil) == nil)
        #expect(Self.bare(peer).completed(.socket, at: .socket(-1)) == nil)
        let nobody = PeerCredentials(processID: 0, userID: 7)
        #expect(Self.bare(nobody).completed(.socket, at: .socket(ours)) == nil)
        // Then the audit log has what is known without its process.
        let caller = Caller(gone, from: .api, process: nil, confinement: nil, changes: AccessChanges())
        #expect(caller.identity == Self.bare(gone))
    }

    @Test("on kernels without SO_PEERPIDFD, a number that belongs to a later process says nothing about it")
    func recycled() async throws {
        let (ours, client) = try Self.connected()
        defer { close(ours) }
        _ = client
        let peer = try #require(PeerCredentials(descriptor: ours))
        for start in [nil, 1] as [UInt64?] {
            #expect(Self.bare(peer).completed(.started(start), at: .socket(ours)) == nil)
        }
        let executor = try SocketExecutor()
        let references = await withCheckedContinuation { (continuation: CheckedContinuation<[PeerReference], Never>) in
            executor.perform {
                let processes = PeerProcesses(executor: executor, limit: 1, hasPeerDescriptors: false)
                var found = [processes.reference(to: peer.processID, at: ours)]
                if let process = try? processes.process(of: peer, at: ours) {
                    if case .descriptor = process.reference { found.append(.socket) }
                    processes.connectionEnded(of: process)
                    found.append(process.reference)
                }
                continuation.resume(returning: found)
            }
        }
        // The pidfd of a process without connections is closed.
        #expect(references == [.started(ProcText.startTime(of: getpid())), .socket, .started(nil)])
        await executor.stop()
    }

    @Test("the path of a program is the kernel's own, even when its file has been removed")
    func removedFile() async throws {
        let folder = try TemporaryFolder()
        let copy = folder.path + "/program"
        try FileManager.default.copyItem(atPath: "/usr/bin/cat", toPath: copy)
        let program = URL(filePath: copy).resolvingSymlinksInPath().path
        let child = try await Child([program], environment: ["PATH": "/usr/bin:/bin"], input: .held)
        var ends: [CInt] = [-1, -1]
        try #require(unsafe socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        let peer = PeerCredentials(processID: child.pid, userID: geteuid())
        let start = PeerReference.started(ProcText.startTime(of: child.pid))
        func read() -> (identity: CallerIdentity, folder: String?)? {
            Self.bare(peer).completed(start, at: .socket(ends[0]))
        }
        // Until then it is the program that starts it.
        #expect(try await until { read()?.identity.executable == program })
        let (identity, folderOfProcess) = try #require(read())
        let place = try #require(folderOfProcess)
        #expect(!identity.isOther(in: place))
        try FileManager.default.removeItem(atPath: program)
        #expect(read()?.identity.executable == program + " (deleted)")
        #expect(identity.isOther(in: place))
        await child.end(SIGKILL)
    }

    @Test("a process that becomes another file at the same path is noticed")
    func replacedFile() async throws {
        let folder = try TemporaryFolder()
        let shell = URL(filePath: "/bin/sh").resolvingSymlinksInPath().path
        let place = URL(filePath: folder.path).resolvingSymlinksInPath().path
        let (program, next) = (place + "/program", place + "/next")
        for path in [program, next] { try FileManager.default.copyItem(atPath: shell, toPath: path) }
        // It waits for a line before each step.
        let script = "read line; mv \(next) \(program); exec \(program) -c 'read line; read line'"
        let child = try await Child([program, "-c", script], environment: ["PATH": "/usr/bin:/bin"], input: .held)
        let proc = "/proc/\(child.pid)"
        #expect(try await until { try ProcessReader.program(of: proc)?.path == program })
        var ends: [CInt] = [-1, -1]
        try #require(unsafe socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        let peer = PeerCredentials(processID: child.pid, userID: geteuid())
        let start = PeerReference.started(ProcText.startTime(of: child.pid))
        let former = try #require(Self.bare(peer).completed(start, at: .socket(ends[0])))
        #expect(former.identity.executable == program && former.identity.executableFile != nil)
        #expect(!former.identity.isOther(in: proc))
        child.tell("go on")
        // While the old file runs, its path is marked as deleted.
        #expect(
            try await until {
                let found = try ProcessReader.program(of: proc)
                return found?.path == program && found?.file?.number != former.identity.executableFile
            })
        #expect(former.identity.isOther(in: proc))
        let now = try #require(Self.bare(peer).completed(start, at: .socket(ends[0]))?.identity)
        #expect(now.executable == program && now.executableFile != former.identity.executableFile)
        #expect(!now.isOther(in: proc))
        await child.end(SIGKILL)
    }

    @Test("the identity is read once it can be, and again after a change of settings or rules")
    func generations() async throws {
        let (ours, client) = try Self.connected()
        defer { close(ours) }
        _ = client
        let changes = AccessChanges()
        let peer = try #require(PeerCredentials(descriptor: ours))
        let caller = Caller(peer, from: .api, process: nil, confinement: nil, changes: changes)
        // Without its socket nothing can be read.
        #expect(caller.identity.executable == nil)
        let executor = try SocketExecutor()
        let socket = ClientSocket(ours, of: getpid(), on: executor, marks: 1...2)
        caller.socket = socket
        #expect(caller.identity.executable != nil)
        caller.socket = nil
        #expect(caller.identity.executable != nil)
        changes.changed()
        #expect(caller.identity.executable == nil)
        await executor.stop()
    }

    @Test("a label is the first line of what the kernel returns")
    func label() {
        for text in ["snap.tool.tool (enforce)\n", "snap.tool.tool (enforce)\0", "snap.tool.tool (enforce)"] {
            #expect(ProcText.label(inBytes: Array(text.utf8)) == "snap.tool.tool (enforce)")
        }
        #expect(ProcText.label(inBytes: []).isEmpty)
    }

    private static func bare(_ peer: PeerCredentials) -> CallerIdentity {
        CallerIdentity(listener: .api, processID: peer.processID, userID: peer.userID)
    }

    private static func connected() throws -> (CInt, RawClient) {
        let folder = try TemporaryFolder()
        let listening = try SocketFile.bind(path: folder.path + "/socket")
        defer { close(listening.descriptor) }
        let client = try RawClient(listening.path)
        return (accept(listening.descriptor, nil, nil), client)
    }
}

import AuthModel
import CSandbox
import Foundation
import Glibc
import TestSupport
import Testing

@testable import AuthDaemon

/// Programs on a file system that another process serves (FUSE). Mounting one with any owner needs root.
@Suite("Programs on FUSE (as root)", .timeLimit(.minutes(1)))
struct UserFileSystemRootTests {
    @Test("rules do not know a program that a user's process serves, and know one that root has mounted by its path")
    func programs() async throws {
        for (user, source) in [(65534, MountTable.Source.user), (0, .server)] {
            let place = try TemporaryFolder()
            let folder = URL(filePath: place.path).resolvingSymlinksInPath().path
            let server = try await Child(
                try Peer.Program("one-file-system.py").command([folder, "/usr/bin/sleep", "\(user)"]),
                environment: ["PATH": "/usr/bin:/bin"], input: .held)
            #expect(try await until { server.out.text.contains("ready") }, "\(server.err.text)")
            let path = folder + "/program"
            let child = try await Child([path, "infinity"], environment: [:])
            #expect(try await until { try ProcessReader.program(of: "/proc/\(child.pid)")?.path == path })
            let program = try #require(try ProcessReader.program(of: "/proc/\(child.pid)"))
            #expect(program.source == source && program.number == nil && program.file?.inode == 2)
            // The process that reads for an agent with Landlock reports the same.
            let reader = try ProcessReader()
            #expect(try reader.ask(SANDBOX_EXECUTABLE, about: child.pid).file.mount == Self.mount(of: child.pid))
            let identity = try MountTableTests.identity(of: child)
            #expect(identity.executable == path && identity.executableFile == nil)
            #expect(identity.isExecutableUncertain == (source == .user))
            #expect(!identity.isOther(in: "/proc/\(child.pid)"))
            // A rule that tests what is unknown denies.
            let facts = AccessFacts(identity, ownUserID: geteuid())
            #expect(facts.executable == (source == .user ? .unknown : .text(path)))
            try await Self.checkConsent(child, identity, isOfUser: source == .user)
            await child.end(SIGKILL)
            server.endInput()
            #expect(await server.ended() == 0)
        }
    }

    private static func mount(of process: pid_t) -> UInt64 {
        var file = sandbox_file()
        _ = unsafe sandbox_describe(AT_FDCWD, "/proc/\(process)/exe", &file)
        return file.mount
    }

    /// An answer about a program that a user serves lasts until the process ends.
    private static func checkConsent(_ child: Child, _ identity: CallerIdentity, isOfUser: Bool) async throws {
        let subject = try #require(PresenceSubject(identity))
        func found(
            _ programs: ConsentPrograms, unit: String? = nil, isConfined: Bool = false
        ) async -> ConsentProgram.Identity? {
            await programs.program(subject, unit: unit, isConfined: isConfined).identity
        }
        let closed = ConsentPrograms { _ in -1 }
        #expect(await found(closed) == (isOfUser ? .running(subject) : nil))
        #expect(await found(closed, unit: "a.service") == .unit("a.service"))
        let open = ConsentPrograms()
        let opened = await found(open)
        if isOfUser {
            #expect(opened == .running(subject))
            #expect(await found(open, isConfined: true) == nil)
            return
        }
        guard case .file(_, 2, let hash)? = opened else {
            Issue.record("\(String(describing: opened))")
            return
        }
        #expect(hash.count == 64)
    }
}

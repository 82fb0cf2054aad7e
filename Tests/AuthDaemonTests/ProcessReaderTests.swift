import AuthFiles
import AuthModel
import CSandbox
import Foundation
import Glibc
import TestSupport
import Testing

@testable import AuthDaemon

@Suite("The process that identifies clients", .timeLimit(.minutes(1)))
struct ProcessReaderTests {
    @Test("it reads about another process what the agent reads by itself without Landlock")
    func answers() async throws {
        let reader = try ProcessReader()
        let child = try await Child(["cat"], environment: ["PATH": "/usr/bin:/bin"], input: .held)
        // The child first runs another program.
        let isCat = try await until {
            try reader.ask(SANDBOX_EXECUTABLE, about: child.pid).text.hasSuffix("/cat")
        }
        #expect(isCat)
        let folder = "/proc/\(child.pid)"
        let program = try ProcessReader.program(of: folder)
        let answer = try reader.ask(SANDBOX_EXECUTABLE, about: child.pid)
        #expect(answer.text == program?.path)
        var status = stat()
        try #require(unsafe stat("/usr/bin/cat", &status) == 0)
        let nanoseconds = Int64(status.st_ctim.tv_sec) * 1_000_000_000 + Int64(status.st_ctim.tv_nsec)
        let version = try #require(program?.file)
        #expect(version.device == status.st_dev && version.inode == status.st_ino)
        #expect(version.size == UInt64(status.st_size) && version.changed == nanoseconds)
        #expect(answer.file.device == version.device && answer.file.inode == version.inode)
        #expect(answer.file.size == version.size && answer.file.changed == version.changed)
        #expect(answer.file.modified == version.modified)
        #expect(
            try reader.ask(SANDBOX_USER_NAMESPACE, about: child.pid).file.inode
                == ProcessReader.userNamespace(of: folder))
        let missing = #expect(throws: SystemFailure.self) { try reader.ask(SANDBOX_FLATPAK_INFO, about: child.pid) }
        #expect(missing?.number == ENOENT)
        await child.end()
        let ended = #expect(throws: SystemFailure.self) { try reader.ask(SANDBOX_EXECUTABLE, about: child.pid) }
        #expect(ended?.number == ENOENT)
        let unknown = #expect(throws: SystemFailure.self) { try reader.ask(sandbox_question(9), about: getpid()) }
        #expect(unknown?.number == EINVAL)
    }

    @Test("many threads ask at once, and each gets its answer")
    func threads() async throws {
        let reader = try ProcessReader()
        let found = try ProcessReader.program(of: "/proc/self")
        let own = try #require(found?.path)
        // Not the parent, which may be a process that nobody may read.
        let child = try await Child(["cat"], environment: ["PATH": "/usr/bin:/bin"], input: .held)
        let isCat = try await until { try reader.ask(SANDBOX_EXECUTABLE, about: child.pid).text.hasSuffix("/cat") }
        try #require(isCat)
        let other = try reader.ask(SANDBOX_EXECUTABLE, about: child.pid).text
        await withTaskGroup(of: Bool.self) { group in
            for number in 0..<200 {
                let (process, expected) = number % 2 == 0 ? (getpid(), own) : (child.pid, other)
                group.addTask { (try? reader.ask(SANDBOX_EXECUTABLE, about: process).text) == expected }
            }
            for await isRight in group { #expect(isRight) }
        }
        await child.end()
    }

    @Test("it has one descriptor, cannot be dumped, ignores SIGTERM, and its end is an error for who asks")
    func limits() throws {
        let reader = try ProcessReader()
        let folder = "/proc/\(reader.processID)"
        kill(reader.processID, SIGTERM)
        #expect(try reader.ask(SANDBOX_USER_NAMESPACE, about: reader.processID).file.inode > 0)
        let status = try String(contentsOfFile: folder + "/status", encoding: .utf8)
        #expect(status.contains("Name:\tauthd-reader\n") && status.contains("NoNewPrivs:\t1\n"))
        #expect(status.contains("Seccomp:\t2\n"))
        // Only root can list them.
        if geteuid() == 0 {
            #expect(try FolderEntries.names(in: folder + "/fd") == ["0"])
        }
        kill(reader.processID, SIGKILL)
        let failure = #expect(throws: SystemFailure.self) {
            // The signal may be on its way.
            while true { _ = try reader.ask(SANDBOX_USER_NAMESPACE, about: reader.processID) }
        }
        #expect([EPIPE, ECONNRESET].contains(failure?.number ?? 0), "\(String(describing: failure))")
    }

    @Test("if it is late, it does not block callers again until it has answered")
    func late() async throws {
        let reader = try ProcessReader()
        kill(reader.processID, SIGSTOP)
        // If each question waited, they would last longer than the time limit of this suite.
        for _ in 0..<60 {
            let failure = #expect(throws: SystemFailure.self) { try reader.ask(SANDBOX_EXECUTABLE, about: getpid()) }
            #expect(failure?.number == ETIMEDOUT)
        }
        kill(reader.processID, SIGCONT)
        let own = try ProcessReader.program(of: "/proc/self")?.path
        let answersAgain = try await until {
            (try? reader.ask(SANDBOX_EXECUTABLE, about: getpid()).text) == own
        }
        #expect(answersAgain)
    }

    @Test("its end ends the service that watches it, with a failure")
    func ended() async throws {
        let reader = try ProcessReader()
        kill(reader.processID, SIGKILL)
        let service = ProcessReaderService(reader)
        let run = Task { try await service.run() }
        let hasEnded = try await until {
            (try? reader.ask(SANDBOX_USER_NAMESPACE, about: reader.processID)) == nil
        }
        #expect(hasEnded)
        await #expect(throws: (any Error).self) { try await run.value }
    }
}

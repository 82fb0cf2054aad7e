import AuthFiles
import AuthModel
import AuthSealedFile
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("The files of the agent's lock")
struct LockFilesTests {
    private static let now = WallTime(unixSeconds: 1_800_000_000)
    private static let record = LockRecord(lock: .init(since: now, reason: .command), failures: [now])
    private static let unknown = LockRecord(lock: .init(since: now, reason: .unknown))

    @Test("no file means never locked; what was saved is there, for the owner only")
    func saved() async throws {
        let folder = try TemporaryFolder()
        let files = LockFiles(in: folder.path + "/state/authd")
        #expect(files.load(at: Self.now) == LockRecord() && !files.hasPassphrase())
        try await files.save(Self.record)
        #expect(files.load(at: Self.now) == Self.record)
        var found = stat()
        #expect(lstat(folder.path + "/state/authd/lock", &found) == 0 && found.st_mode & 0o777 == 0o600)
    }

    @Test("a file that is damaged, longer, a pipe, a link or a folder means locked")
    func damaged() async throws {
        for spoil in [
            "truncate -s 5 lock", ": > lock", "echo x >> lock", "rm lock; mkfifo lock", "mv lock a; ln -s a lock",
            "rm lock; mkdir lock", "head -c 1M /dev/zero > lock",
        ] {
            let folder = try TemporaryFolder()
            let files = LockFiles(in: folder.path)
            try await files.save(LockRecord())
            #expect(files.load(at: Self.now) == LockRecord())
            let output = try await Child(
                ["bash", "-c", "cd \(folder.path) && { \(spoil); }"], environment: ["PATH": "/usr/bin:/bin"]
            ).output()
            #expect(output.status == 0, "\(output.err)")
            #expect(files.load(at: Self.now) == Self.unknown, "\(spoil)")
        }
    }

    @Test("a file that may not be read means locked")
    func unreadable() async throws {
        let folder = try TemporaryFolder()
        let files = LockFiles(in: folder.path)
        try await files.save(LockRecord())
        // For root, too: a path that is too long to be opened.
        let long = LockFiles(in: folder.path + "/" + String(repeating: "x", count: 5000))
        #expect(long.load(at: Self.now) == Self.unknown)
        chmod(folder.path + "/lock", 0)
        #expect((files.load(at: Self.now) == Self.unknown) == (geteuid() != 0))
    }

    @Test("it is on the disk before a save returns, and is replaced as a whole")
    func order() async throws {
        let folder = try TemporaryFolder()
        let steps = Mutex<[AtomicFile.Step]>([])
        let files = LockFiles(in: folder.path, note: { step in steps.withLock { $0.append(step) } })
        try await files.save(Self.record)
        #expect(
            steps.withLock { $0 } == [
                .wrote(".lock.new", Self.record.encoded), .syncedFile(".lock.new"), .renamed(".lock.new", to: "lock"),
                .syncedFolder,
            ])
    }

    @Test("the verifier accepts its passphrase only, has no trace of it, and a new one replaces it")
    func passphrase() async throws {
        let folder = try TemporaryFolder()
        let files = LockFiles(in: folder.path, cost: SealedPlace.cheap)
        let (right, other) = (Secret("correct horse battery"), Secret("correct horse batterz"))
        await #expect(throws: StoreError.self) { _ = try await files.check(right) }
        try await files.set(right)
        #expect(files.hasPassphrase())
        #expect(try await files.check(right))
        for wrong in [other, Secret(""), Secret("correct horse battery\n")] {
            #expect(try await !files.check(wrong))
        }
        let text = try String(contentsOfFile: folder.path + "/lock-passphrase", encoding: .utf8)
        #expect(!text.contains("horse"))
        try await files.set(right)
        // Another salt.
        #expect(try String(contentsOfFile: folder.path + "/lock-passphrase", encoding: .utf8) != text)
        try await files.set(other)
        #expect(try await files.check(other))
        #expect(try await !files.check(right))
        // The state is another file.
        #expect(files.load(at: Self.now) == LockRecord())
    }

    @Test("a damaged verifier is no passphrase, and none is right for it")
    func damagedVerifier() async throws {
        let folder = try TemporaryFolder()
        let files = LockFiles(in: folder.path, cost: SealedPlace.cheap)
        try await files.set(Secret("correct horse battery"))
        let whole = try String(contentsOfFile: folder.path + "/lock-passphrase", encoding: .utf8)
        for text in ["", String(whole.dropLast(3)), whole + "x\n", whole.replacing("scrypt 10", with: "scrypt 31")] {
            try text.write(toFile: folder.path + "/lock-passphrase", atomically: false, encoding: .utf8)
            #expect(!files.hasPassphrase())
            await #expect(throws: StoreError.self) { _ = try await files.check(Secret("correct horse battery")) }
        }
    }
}

import AuthFiles
import Glibc
import TestSupport
import Testing

@Suite("What the system knows about a file")
struct FileStatusTests {
    @Test("a file has its kind, mode, owner and size, by its path and by a descriptor")
    func file() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("four", to: "a")
        try #require(chmod(path, 0o640) == 0)
        let found = try #require(FileStatus(at: path))
        #expect(found.kind == .file && found.permissions == 0o640 && found.size == 4)
        #expect(found.owner == geteuid())
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        #expect(FileStatus(of: descriptor) == found)
    }

    @Test("a link is followed unless the link itself is meant")
    func link() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("", to: "a")
        let link = folder.path + "/link"
        try #require(symlink(path, link) == 0)
        let (file, other) = (try #require(FileStatus(at: path)), try #require(FileStatus(at: folder.path)))
        #expect(FileStatus(at: link) == file && other.kind == .folder)
        #expect(try #require(FileStatus(at: link)).isSame(as: file) && !file.isSame(as: other))
        #expect(FileStatus(at: link, followsLink: false)?.kind == .link)
    }

    @Test("a file is private if it belongs to the user and its mode gives others no access")
    func privateFile() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("a secret", to: "a")
        let user = geteuid()
        for mode: mode_t in [0o600, 0o400, 0o700] {
            try #require(chmod(path, mode) == 0)
            #expect(try #require(FileStatus(at: path)).privacyProblem(for: user) == nil)
        }
        for mode: mode_t in [0o640, 0o620, 0o610, 0o604, 0o602, 0o601] {
            try #require(chmod(path, mode) == 0)
            let found = try #require(FileStatus(at: path))
            #expect(found.privacyProblem(for: user) == .accessibleToOthers)
            #expect(found.privacyProblem(for: user + 1) == .otherOwner(user))
        }
    }

    @Test("only a regular file can be private")
    func notPrivate() throws {
        let folder = try TemporaryFolder()
        let (file, link, pipe) = (try folder.write("", to: "a"), folder.path + "/link", folder.path + "/pipe")
        try #require(chmod(file, 0o600) == 0 && symlink(file, link) == 0 && mkfifo(pipe, 0o600) == 0)
        for path in [folder.path, link, pipe] {
            let found = try #require(FileStatus(at: path, followsLink: false))
            #expect(found.privacyProblem(for: geteuid()) == .notAFile, "\(path)")
        }
        #expect(try #require(FileStatus(at: link)).privacyProblem(for: geteuid()) == nil)
    }

    @Test("a socket is known, and a missing file is reported")
    func others() throws {
        let folder = try TemporaryFolder()
        let client = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
        defer { close(client) }
        #expect(FileStatus(of: client)?.kind == .socket)
        #expect(FileStatus(at: "/dev/null")?.kind == .other)
        #expect(FileStatus(at: folder.path + "/none") == nil && errno == ENOENT)
    }
}

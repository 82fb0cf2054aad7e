import AuthFiles
import AuthFront
import AuthGateway
import AuthWire
import Foundation
import TestSupport
import Testing

@Suite("The files of the endpoint's programs")
struct EndpointFolderTests {
    private static let key = String(repeating: "0f", count: 32)

    private func scene(_ test: (EndpointFolder, EndpointClient, ClientName) throws -> Void) throws {
        let home = try TemporaryFolder()
        let folder = EndpointFolder(path: home.path + "/state/http")
        let client = EndpointClient(view: .token, sessions: [try SessionName("work")])
        try test(folder, client, ClientName("reports"))
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test("a key is in a separate file that only its owner can read, without a line feed")
    func add() throws {
        try scene { folder, client, name in
            try folder.add(client, named: name, key: Self.key)
            #expect(try folder.names() == [name] && folder.client(name) == client)
            #expect(try mode(folder.path) == 0o700 && mode(folder.keyFile(of: name)) == 0o600)
            #expect(try String(contentsOfFile: folder.keyFile(of: name), encoding: .utf8) == Self.key)
            #expect(try FrontKeyFile.read(folder.keyFile(of: name)).reveal() == Self.key)
            let entry = try String(contentsOfFile: folder.path + "/reports.json", encoding: .utf8)
            #expect(!entry.contains(Self.key))
        }
    }

    @Test("after a removal neither the key nor the entry is there")
    func remove() throws {
        try scene { folder, client, name in
            #expect(try folder.names().isEmpty && !folder.remove(name))
            try folder.add(client, named: name, key: Self.key)
            #expect(try folder.remove(name) && !folder.remove(name))
            #expect(try folder.names().isEmpty && folder.client(name) == nil)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        }
    }

    @Test("files of other names and more programs than the limit do not count; a damaged entry is an error")
    func others() throws {
        try scene { folder, client, name in
            try folder.add(client, named: name, key: Self.key)
            for file in ["Upper.key", ".hidden.key", "notes.txt", "..key"] {
                try Self.key.write(toFile: folder.path + "/" + file, atomically: false, encoding: .utf8)
            }
            #expect(try folder.names() == [name])
            try "{".write(toFile: folder.path + "/reports.json", atomically: false, encoding: .utf8)
            #expect(throws: AgentError.self) { try folder.client(name) }
            for number in 0...EndpointFolder.mostClients {
                try folder.add(client, named: ClientName("p\(number)"), key: Self.key)
            }
            #expect(try folder.names().count == EndpointFolder.mostClients)
        }
    }

    @Test("an entry that is not a regular file is refused at once, and does not block a reader")
    func otherKinds() throws {
        try scene { folder, client, name in
            try folder.add(client, named: name, key: Self.key)
            let entry = folder.path + "/reports.json"
            func expectRefusal(_ reason: String, _ make: () throws -> Void) throws {
                try FileManager.default.removeItem(atPath: entry)
                try make()
                let error = #expect(throws: AgentError.self) { try folder.client(name) }
                #expect(error?.message.contains(reason) == true, "\(String(describing: error))")
            }
            // Nothing ever writes to the FIFO.
            try expectRefusal("not a regular file") { #expect(mkfifo(entry, 0o600) == 0) }
            try expectRefusal("not a regular file") { #expect(mkdir(entry, 0o700) == 0) }
            try expectRefusal("not a regular file") {
                let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
                defer { close(descriptor) }
                var address = sockaddr_un()
                address.sun_family = sa_family_t(AF_UNIX)
                withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: entry.utf8) }
                let bound = withUnsafePointer(to: &address) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                    }
                }
                #expect(bound == 0)
            }
            try expectRefusal("symbolic links") { #expect(symlink("/dev/zero", entry) == 0) }
            for file in ["/dev/zero", "/dev"] {
                #expect(throws: SystemFailure.self) { try AtomicFile(path: file).read(atMost: 1, isOwn: true) }
            }
        }
    }

    @Test("an entry that another user owns or can write to is refused")
    func foreign() throws {
        try scene { folder, client, name in
            try folder.add(client, named: name, key: Self.key)
            let entry = folder.path + "/reports.json"
            for mode: mode_t in [0o620, 0o602] {
                #expect(chmod(entry, mode) == 0)
                let error = #expect(throws: AgentError.self) { try folder.client(name) }
                #expect(error?.message.contains("other users can write to it") == true)
            }
            #expect(chmod(entry, 0o644) == 0)
            #expect(try folder.client(name) == client)
            // Only root can give a file away, and an ordinary user has one of root's at hand.
            let other = geteuid() == 0 ? entry : "/etc/passwd"
            #expect(geteuid() != 0 || chown(entry, 1234, 1234) == 0)
            #expect(throws: SystemFailure("read \(other)", because: "it belongs to another user")) {
                try AtomicFile(path: other).read(atMost: 1, isOwn: true)
            }
            #expect(try AtomicFile(path: other).read(atMost: 1)?.count == 1)
        }
    }

    @Test("it is in the state folder of the user")
    func place() {
        #expect(EndpointFolder(environment: ["XDG_STATE_HOME": "/s"].get)?.path == "/s/authd/http")
        #expect(EndpointFolder(environment: ["HOME": "/h"].get)?.path == "/h/.local/state/authd/http")
        #expect(EndpointFolder(environment: ["XDG_STATE_HOME": "s"].get) == nil)
    }
}

extension [String: String] {
    fileprivate func get(_ name: String) -> String? { self[name] }
}

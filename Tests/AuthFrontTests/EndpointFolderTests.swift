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

    @Test("a key is in a file of its own that only its owner can read, without a line feed")
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

package import AuthWire
internal import Glibc

/// The programs that may use the local HTTP endpoint: for each, a file with what it may have, and one with its key.
///
/// A program exists as long as its key does: the key is written last and removed first.
package struct EndpointFolder: Sendable {
    /// More are a mistake: the endpoint compares a request's key with each of them.
    package static let mostClients = 64
    /// A file that is longer was not written here.
    private static let mostBytes = 16 << 10

    package let path: String

    /// `$XDG_STATE_HOME/authd/http`; `nil` if the environment has no home.
    package init?(environment: (String) -> String?) {
        guard let state = StateFolder.path(environment: environment) else { return nil }
        self.init(path: state + "/http")
    }

    package init(path: String) {
        self.path = path
    }

    /// In the order of the alphabet, at most ``mostClients``. Empty if the folder is missing.
    package func names() throws(SystemFailure) -> [ClientName] {
        let files: [String]
        do throws(SystemFailure) {
            files = try FolderEntries.names(in: path)
        } catch {
            if error.number == ENOENT { return [] }
            throw error
        }
        let names = files.filter { $0.hasSuffix(Self.keySuffix) }
            .compactMap { try? ClientName(String($0.dropLast(Self.keySuffix.count))) }
        return Array(names.sorted().prefix(Self.mostClients))
    }

    /// Without a line feed at its end: AWS's SDKs send the file's content as it is.
    package func keyFile(of name: ClientName) -> String { "\(path)/\(name)\(Self.keySuffix)" }

    /// - Returns: `nil` if there is no such program.
    /// - Throws: if its file cannot be read, or another user could have written it. The message has the path.
    package func client(_ name: ClientName) throws(AgentError) -> EndpointClient? {
        let file = file(of: name)
        let bytes: [UInt8]?
        do throws(SystemFailure) {
            bytes = try AtomicFile(path: file).read(atMost: Self.mostBytes, isOwn: true)
        } catch {
            throw AgentError(.internal_, "\(error)")
        }
        guard let bytes else { return nil }
        guard let json = try? JSON(parsing: bytes) else {
            throw AgentError(.validation, "\(file) is not JSON: remove the program, and add it again")
        }
        do throws(AgentError) {
            return try EndpointClient.decode(stored: json)
        } catch {
            throw AgentError(.validation, "\(file): \(error.message): remove the program, and add it again")
        }
    }

    /// Replaces a program of that name.
    package func add(_ client: EndpointClient, named name: ClientName, key: String) throws(SystemFailure) {
        try PrivateFolder.make(path)
        _ = try remove(name)
        try AtomicFile(path: file(of: name)).replace(with: client.json.serialized() + [0x0A])
        try AtomicFile(path: keyFile(of: name)).replace(with: Array(key.utf8))
    }

    /// - Returns: whether there was one.
    package func remove(_ name: ClientName) throws(SystemFailure) -> Bool {
        // A link that leads nowhere, and an entry without a key, count too.
        let isThere = [keyFile(of: name), file(of: name)].contains { path in
            var target: UInt8 = 0
            return unsafe readlink(path, &target, 1) >= 0 || access(path, F_OK) == 0
        }
        try AtomicFile(path: keyFile(of: name)).remove()
        try AtomicFile(path: file(of: name)).remove()
        return isThere
    }

    private static let keySuffix = ".key"

    private func file(of name: ClientName) -> String { "\(path)/\(name).json" }
}

import AuthFiles
import AuthModel
import AuthSockets
import AuthWire
import CLinux
import CSystemd
import Glibc

extension FileRules.Places {
    /// Finds the places, and creates the folders that the agent may need later: it cannot be given access to a folder that does
    /// not exist.
    /// - Parameters:
    ///   - program: the file of this process.
    ///   - extraSocket: where the extra socket may be opened.
    package init(
        _ configuration: AgentConfiguration, read paths: ConfigurationPaths, program: String?, stateFolder: String?,
        sockets: [String], extraSocket: String?, environment: (String) -> String?
    ) {
        self.init()
        home = environment("HOME").flatMap { $0.hasPrefix("/") ? $0 : nil }
        if let folder = paths.policy.map({ PrivateFolder.parent(of: $0) }), Self.make(folder) {
            configurationFolder = Self.target(of: folder) ?? folder
        }
        if let stateFolder, Self.make(stateFolder) { self.stateFolder = stateFolder }
        socketFolders = (sockets + [extraSocket].compactMap(\.self)).map { PrivateFolder.parent(of: $0) }
            .filter { (try? SocketFolder.prepare($0)) != nil }
        programs = [program].compactMap(\.self) + Self.loadedFiles()
        runtimeNames = (try? FolderEntries.names(in: "/run")) ?? []
        files = Self.files(of: configuration) + Self.systemLinks.compactMap(Self.target)
        for name in ["SSL_CERT_FILE"] { files += [environment(name)].compactMap(\.self) }
        if let folder = environment("CREDENTIALS_DIRECTORY") { files.append(folder + "/" + KeyFile.credential) }
        for folder in paths.folders.flatMap({ [PrivateFolder.parent(of: $0), $0] }) {
            files += Self.targets(in: folder)
        }
        files += files.compactMap(Self.target)
    }

    /// The files that settings and profiles name.
    package static func files(of configuration: AgentConfiguration) -> [String] {
        var files = [configuration.settings.http.caFile].compactMap(\.self)
        if case .file(let path) = configuration.settings.sealedKey { files.append(path) }
        for profile in configuration.catalog.list {
            guard let identity = profile.oauth?.tlsIdentity else { continue }
            files += [identity.certificate, identity.key]
        }
        return files
    }

    /// Files of the system that may be links to somewhere else than `/usr` and `/etc`.
    private static let systemLinks = [
        "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/localtime", "/etc/ssl/certs/ca-certificates.crt",
        "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem",
    ]

    private static func make(_ folder: String) -> Bool {
        do throws(SystemFailure) { try PrivateFolder.make(folder) } catch { return unsafe access(folder, F_OK) == 0 }
        return true
    }

    /// What the links in a folder lead to.
    private static func targets(in folder: String) -> [String] {
        ((try? FolderEntries.names(in: folder)) ?? []).map { folder + "/" + $0 }.compactMap { path in
            var found = stat()
            guard unsafe lstat(path, &found) == 0, found.st_mode & S_IFMT == S_IFLNK else { return nil }
            return target(of: path)
        }
    }

    /// The path without links; `nil`: there is no such file, or no link on the way.
    static func target(of path: String) -> String? {
        guard let real = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(real) }
        let found = unsafe String(cString: real)
        return found == path ? nil : found
    }

    /// The program and the libraries of this process (`/proc/self/maps`).
    private static func loadedFiles() -> [String] {
        guard let file = unsafe fopen("/proc/self/maps", "re") else { return [] }
        defer { unsafe fclose(file) }
        var found: Set<String> = []
        var line: UnsafeMutablePointer<CChar>?
        var room = 0
        defer { unsafe free(line) }
        while unsafe getline(&line, &room, file) > 0, let text = unsafe line.map({ unsafe String(cString: $0) }) {
            // Of a path with spaces, all of it.
            let fields = text.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
            guard fields.count == 6 else { continue }
            let path = fields[5].drop { $0 == " " }.prefix { $0 != "\n" }
            if path.hasPrefix("/"), fields[1].contains("x") { found.insert(String(path)) }
        }
        return found.sorted()
    }
}

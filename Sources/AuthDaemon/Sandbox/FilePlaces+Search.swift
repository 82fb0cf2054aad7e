import AuthFiles
import AuthModel
import AuthSockets
import AuthWire
import CLinux
import CSystemd
import Glibc

extension FilePlaces {
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
        home = Self.absolute(environment("HOME")).map(Self.realOrSame)
        sharedFolders = Self.sharedFolders(environment)
        systemPrograms = systemPrograms.compactMap(Self.real)
        systemFiles = systemFiles.compactMap(Self.real)
        for file in Self.systemLinks.compactMap(Self.real) where Self.kind(of: file) == S_IFREG {
            let folder = PrivateFolder.parent(of: file)
            systemFiles.append(isShared(folder) ? file : folder)
        }
        configurationFolder = paths.policy.flatMap { Self.made(PrivateFolder.parent(of: $0)) }
        self.stateFolder = stateFolder.flatMap(Self.made)
        socketFolders = (sockets + [extraSocket].compactMap(\.self)).map { PrivateFolder.parent(of: $0) }
            .filter { (try? SocketFolder.prepare($0)) != nil }.map(Self.realOrSame)
        programs = [program].compactMap(\.self).flatMap(Self.files(at:)) + Self.loadedFiles()
        var named = Self.files(of: configuration) + paths.files.prefix(1)
        named += [environment("SSL_CERT_FILE")].compactMap(\.self)
        if let folder = environment("CREDENTIALS_DIRECTORY") {
            named += [KeyFile.credential, KeyFile.etcdCredential].map { folder + "/" + $0 }
        }
        files = named.flatMap(Self.files(at:))
        for target in paths.folders.flatMap({ [PrivateFolder.parent(of: $0), $0] }).flatMap(Self.targets(in:)) {
            if Self.kind(of: target) == S_IFDIR { folders.append(target) } else { files.append(target) }
        }
    }

    /// The files that settings and profiles name.
    package static func files(of configuration: AgentConfiguration) -> [String] {
        var files = [configuration.settings.http.caFile].compactMap(\.self)
        if case .file(let path) = configuration.settings.sealedKey { files.append(path) }
        if let etcd = configuration.settings.etcd {
            files += [etcd.caFile, etcd.certificateFile, etcd.keyFile, etcd.passwordFile].compactMap(\.self)
        }
        for profile in configuration.catalog.fromFiles {
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

    /// The folders of the XDG Base Directory Specification, by the environment and by default, and others in which each program
    /// has a file.
    private static func sharedFolders(_ environment: (String) -> String?) -> Set<String> {
        let variables = ["XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"]
        let names = [".cache", ".config", ".gnupg", ".local", ".local/share", ".local/state", ".ssh"]
        let home = absolute(environment("HOME"))
        let folders =
            variables.compactMap { absolute(environment($0)) }
            + names.compactMap { name in
                home.map { $0 + "/" + name }
            }
        return Set(folders.map(realOrSame))
    }

    private static func absolute(_ path: String?) -> String? {
        guard let path, path.hasPrefix("/") else { return nil }
        return path
    }

    /// A named file in the folder where it is, which may be a link, and what it leads to. It may be missing, but not
    /// its folder.
    private static func files(at path: String) -> [String] {
        let name = PrivateFolder.name(of: path)
        guard path.hasPrefix("/"), !["", ".", ".."].contains(name), let folder = real(PrivateFolder.parent(of: path))
        else { return [] }
        let file = (folder == "/" ? "" : folder) + "/" + name
        let places = [file] + [real(file)].compactMap { $0 == file ? nil : $0 }
        // A folder is not a file that could be read.
        return places.filter { kind(of: $0) != S_IFDIR }
    }

    /// The folder without links, created if it is missing; `nil`: there is none.
    private static func made(_ folder: String) -> String? {
        // What keeps it from being created is reported by who writes there.
        try? PrivateFolder.make(folder)
        guard let found = real(folder), kind(of: found) == S_IFDIR else { return nil }
        return found
    }

    /// What the links in a folder lead to.
    private static func targets(in folder: String) -> [String] {
        ((try? FolderEntries.names(in: folder)) ?? []).map { folder + "/" + $0 }
            .filter { kind(of: $0) == S_IFLNK }.compactMap(real)
    }

    /// The path without links; `nil`: there is no such file.
    private static func real(_ path: String) -> String? {
        guard let real = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }

    private static func realOrSame(_ path: String) -> String { real(path) ?? path }

    /// `S_IFREG` and the like; `nil`: there is no such file. Links are not followed.
    private static func kind(of path: String) -> mode_t? {
        var found = stat()
        return unsafe lstat(path, &found) == 0 ? found.st_mode & S_IFMT : nil
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
            // A path may contain spaces.
            let fields = text.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
            guard fields.count == 6 else { continue }
            let path = fields[5].drop { $0 == " " }.prefix { $0 != "\n" }
            if path.hasPrefix("/"), fields[1].contains("x") { found.insert(String(path)) }
        }
        return found.sorted()
    }
}

import Glibc

/// Finds the agent's socket, for the agent and for clients.
public enum SocketPath {
    /// `sun_path` with its ending zero byte (unix(7)).
    public static let longest = 107

    /// The flag, then `AUTHD_SOCKET`, then `$XDG_RUNTIME_DIR/authd/socket`, then `/run/user/UID/authd/socket` if that folder
    /// belongs to the user and is closed to others. The default is never in a folder that others can write to.
    ///
    /// - Parameters:
    ///   - flag: the value of `--socket`, or of another option.
    ///   - option: its name, for error messages.
    ///   - environment: returns the value of a variable.
    ///   - userID: the user whose agent it is.
    ///   - isPrivateFolder: whether a folder belongs to the user with mode 0700.
    /// - Throws: ``ErrorKind/validation``, saying what to set.
    public static func resolve(
        flag: String? = nil, of option: String = "--socket", environment: (String) -> String?, userID: UInt32,
        isPrivateFolder: (_ path: String, _ userID: UInt32) -> Bool = SocketPath.isPrivateFolder
    ) throws(AgentError) -> String {
        if let flag { return try checked(flag, from: option) }
        if let path = environment("AUTHD_SOCKET"), !path.isEmpty { return try checked(path, from: "AUTHD_SOCKET") }
        if let folder = RuntimeFolder(environment: environment) {
            return try checked(folder.socket(of: .agent), from: RuntimeFolder.variable)
        }
        let folder = RuntimeFolder(ofLogin: userID)
        guard isPrivateFolder(folder.path, userID) else {
            if userID == 0, let user = environment("SUDO_USER"), !user.isEmpty, user != "root" {
                throw AgentError(
                    .validation,
                    "sudo runs this command as root, and each user has a separate agent. Run it without sudo.")
            }
            let variable = environment(RuntimeFolder.variable) ?? ""
            throw AgentError(
                .validation,
                "There is no private folder for the agent's socket: XDG_RUNTIME_DIR is "
                    + (variable.isEmpty ? "not set" : "not an absolute path")
                    + ", and \(folder.path) is missing or open to others. Set XDG_RUNTIME_DIR to an absolute path, set "
                    + "AUTHD_SOCKET, or use --socket.")
        }
        return try checked(folder.socket(of: .agent), from: folder.path)
    }

    /// Whether the folder belongs to the user and has mode 0700. A link is not followed.
    public static func isPrivateFolder(_ path: String, _ userID: UInt32) -> Bool {
        var info = stat()
        guard unsafe lstat(path, &info) == 0 else { return false }
        return info.st_mode & S_IFMT == S_IFDIR && info.st_mode & 0o777 == 0o700 && info.st_uid == userID
    }

    private static func checked(_ path: String, from source: String) throws(AgentError) -> String {
        guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else {
            throw AgentError(
                .validation, "\(source): the path of the socket must be absolute, such as /run/user/1000/s.")
        }
        guard path.utf8.count <= longest else {
            throw AgentError(
                .validation,
                "\(source): the path of the socket has \(path.utf8.count) bytes. Use a folder with a shorter path: the "
                    + "limit is \(longest) bytes.")
        }
        return path
    }

    /// The path of a file in the socket's folder.
    /// - Parameters:
    ///   - name: the name of the file.
    ///   - socket: an absolute path.
    public static func neighbour(_ name: String, of socket: String) -> String {
        let folder = socket.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(socket[..<$0]) } ?? ""
        return folder + "/" + name
    }
}

/// The path of the prompt file: `prompt` in the socket's folder.
public enum PromptPath {
    /// - Parameter socket: an absolute path.
    public static func beside(socket: String) -> String { SocketPath.neighbour("prompt", of: socket) }
}

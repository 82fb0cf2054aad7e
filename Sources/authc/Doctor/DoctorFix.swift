import AuthConnection
import AuthWire
import CLinux
import Glibc

/// What `doctor --fix` may do by itself: it can be undone, and takes nothing from anybody.
enum DoctorFix: Equatable {
    case startSocket
    /// Mode 0700.
    case closeFolder(String)
    /// Removes the permission of others to write.
    case protectFile(String)
    /// Mode 0600.
    case hideFile(String)
    /// The user manager, and so the agent, outlives the user's last login.
    case linger

    /// The same, as the user would type it.
    var command: String {
        switch self {
        case .startSocket: "systemctl --user start authd.socket"
        case .closeFolder(let path): "chmod 700 \(ShellWord.quoted(path))"
        case .protectFile(let path): "chmod go-w \(ShellWord.quoted(path))"
        case .hideFile(let path): "chmod 600 \(ShellWord.quoted(path))"
        case .linger: "loginctl enable-linger"
        }
    }

    /// - Parameters:
    ///   - errors: where the messages of another program go instead of stderr.
    ///   - deadline: when another program is killed.
    func perform(errors: Descriptor? = nil, until deadline: Deadline = .never) throws(Failure) {
        switch self {
        case .startSocket, .linger:
            let words = command.split(separator: " ").map(String.init)
            let files = errors.map { [(number: STDERR_FILENO, file: $0)] } ?? []
            let status = try ChildProgram(
                command: words, variables: AgentAdvice.managerVariables, descriptors: files
            ).run(isQuiet: true, until: deadline)
            guard status == 0 else {
                throw Failure(status: .temporary, kind: "fix", message: "`\(command)` ended with status \(status)")
            }
        case .closeFolder(let path): try change(path, to: 0o700)
        case .hideFile(let path): try change(path, to: 0o600)
        case .protectFile(let path):
            var info = stat()
            guard unsafe stat(path, &info) == 0 else { throw failed(path) }
            try change(path, to: info.st_mode & 0o7755)
        }
    }

    private func change(_ path: String, to mode: mode_t) throws(Failure) {
        guard unsafe chmod(path, mode) == 0 else { throw failed(path) }
    }

    private func failed(_ path: String) -> Failure {
        .usage("cannot change the mode of \(path): \(SystemError.text(errno))")
    }
}

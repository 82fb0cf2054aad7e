import AuthFiles
package import AuthModel
import AuthWire
import Glibc

/// What a reload reports about files that Landlock keeps from the agent until it is started again.
package struct SandboxAdvice: Sendable {
    private let isRestricted: Bool
    /// Where settings open the extra socket.
    private let extraSocket: @Sendable (Settings) -> String?
    /// Whether the kernel refuses to open a file or folder.
    private let refuses: @Sendable (String) -> Bool

    package init(
        isRestricted: Bool, extraSocket: @escaping @Sendable (Settings) -> String? = { _ in nil },
        refuses: @escaping @Sendable (String) -> Bool = Self.refuses
    ) {
        self.isRestricted = isRestricted
        self.extraSocket = extraSocket
        self.refuses = refuses
    }

    /// One text for each file of settings and profiles that cannot be opened now. The agent waits for the disk.
    func refusals(for new: AgentConfiguration) -> [String] {
        guard isRestricted else { return [] }
        var refused = FilePlaces.files(of: new).filter(refuses)
        if new.settings.listeners[.extra].listens, let socket = extraSocket(new.settings) {
            let folder = PrivateFolder.parent(of: socket)
            // The agent may not create a folder, either.
            if unsafe access(folder, F_OK) != 0 || refuses(folder) { refused.append(socket) }
        }
        return refused.map { "\($0) can be used when authd is started again" }
    }

    /// Whether opening a file fails, and not because of its mode: access(2) tells, which Landlock does not refuse.
    package static func refuses(_ path: String) -> Bool {
        let descriptor = unsafe open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        let isRefused = errno == EACCES
        guard descriptor >= 0 else { return unsafe access(path, R_OK) == 0 && isRefused }
        close(descriptor)
        return false
    }

    /// Why files of settings and profiles may not be readable.
    func reasons(for problems: [ProfileProblem]) -> [String] {
        guard isRestricted, problems.contains(where: { $0.found == SystemError.text(EACCES) }) else { return [] }
        return [
            "authd reads its folders, and what links in them led to, as they were when it was started: `authc agent restart` "
                + "lets it read what is there now"
        ]
    }
}

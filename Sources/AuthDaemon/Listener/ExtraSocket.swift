import AuthFiles
package import AuthModel
import AuthSockets
import AuthWire
import Glibc
import Synchronization

/// The extra socket that authd opens itself, in a separate folder, if the settings or the command line say so: at the
/// start or at a reload. systemd starts no socket unit whose service runs, so a reload is the way to get it without a
/// restart.
///
/// Invariant: the socket is locked as long as it exists. The lock is beside the agent's own socket: the folder of this
/// one may be writable in a sandbox.
package final class ExtraSocket: Sendable {
    private struct Contents {
        var open: (socket: SocketFile, lock: LockFile)?
        var listener: Listener?
    }

    private let inside = Mutex(Contents())
    /// The path of the agent's own socket.
    private let main: String

    /// - Parameter main: the path of the agent's own socket.
    package init(beside main: String) {
        self.main = main
    }

    /// Where it listens.
    package var path: String? { inside.withLock { $0.open?.socket.path } }

    /// Opens the socket at the path, or closes it if that is `nil`.
    /// - Throws: why it cannot be opened; there is none then.
    package func listen(at path: String?) throws(StartRefusal) {
        let isDone = inside.withLock { inside in
            // Somebody may have removed or replaced its file.
            if let socket = inside.open?.socket, socket.path == path, socket.isInPlace { return true }
            Self.close(&inside)
            return path == nil
        }
        guard !isDone, let path else { return }
        guard path != main else {
            throw StartRefusal(.refused, "\(path) is the agent's own socket: choose another path for the extra one")
        }
        try AgentLocks.prepareFolder(of: path)
        guard !SocketFolder.areSame(PrivateFolder.parent(of: path), PrivateFolder.parent(of: main)) else {
            throw StartRefusal(
                .refused, "\(path) is in the folder of the agent's own socket: the extra one needs a separate folder")
        }
        let lock = try AgentLocks.claim(Self.lockPath(path, beside: main), as: "on \(path)")
        let socket = try StartRefusal.wrapping { try SocketFile.bind(path: path) }
        inside.withLock { inside in
            inside.open = (socket, lock)
            inside.listener?.setExtra(socket.descriptor)
        }
    }

    /// - Parameter listener: `nil` when it ends.
    func connect(to listener: Listener?) {
        inside.withLock { inside in
            inside.listener = listener
            if let socket = inside.open?.socket { listener?.setExtra(socket.descriptor) }
        }
    }

    /// Removes its file.
    package func remove() { inside.withLock { Self.close(&$0) } }

    private static func close(_ inside: inout Contents) {
        guard let open = inside.open else { return }
        // The listener closes the descriptor, which keeps the file of a new socket at the same path apart from this one.
        open.socket.removeIfOurs()
        inside.listener?.setExtra(nil)
        inside.open = nil
    }

    /// With another name for each path: `extra`, and the path with dashes.
    private static func lockPath(_ path: String, beside main: String) -> String {
        SocketPath.neighbour("extra" + path.replacing("/", with: "-"), of: main)
    }

    /// The path in the settings or the standard one, `$XDG_RUNTIME_DIR/authd-extra/socket`.
    /// - Parameter usual: the standard path of the agent's socket.
    package static func path(_ rules: ListenerRules, usual: String) -> String {
        let standard = RuntimeFolder.socket(of: .agent)
        let folder = usual.hasSuffix(standard) ? String(usual.dropLast(standard.count)) : usual + "-"
        return rules.socket ?? folder + RuntimeFolder.socket(of: .extra)
    }
}

import AuthFiles
import AuthSockets
import AuthWire
import Glibc
import Synchronization

/// The locks of one agent, held as long as this object: that of its socket, and that of the user's keyring from when the agent
/// uses it.
package final class AgentLocks: Sendable {
    private let socket: LockFile
    private let keyring = Mutex<LockFile?>(nil)

    /// Checks or creates the folder of the socket, and locks the socket.
    package init(socket path: String) throws(StartRefusal) {
        socket = try Self.claim(path, as: "on \(path)")
    }

    /// One agent for a user's keyring, whatever its socket. It does nothing if the keyring is claimed, or if the user has no
    /// folder for the lock.
    package func claimKeyring() throws(StartRefusal) {
        let usual = try? SocketPath.resolve(
            environment: { $0 == "AUTHD_SOCKET" ? nil : Environment.value($0) }, userID: geteuid())
        // A process may have a lock once.
        guard keyring.withLock({ $0 == nil }), let usual else { return }
        let lock = try Self.claim(
            SocketPath.neighbour("keyring", of: usual),
            as: "with the same keyring: two agents would invalidate each other's tokens")
        keyring.withLock { $0 = lock }
    }

    /// Checks or creates the folder of a socket or a lock.
    static func prepareFolder(of path: String) throws(StartRefusal) {
        do throws(SocketFolder.Refusal) {
            try SocketFolder.prepare(PrivateFolder.parent(of: path))
        } catch {
            if case .failed = error { throw StartRefusal(.systemError, "\(error)") }
            throw StartRefusal(.refused, "\(error)")
        }
    }

    /// - Parameter role: what only one agent can be.
    static func claim(_ path: String, as role: String) throws(StartRefusal) -> LockFile {
        try prepareFolder(of: path)
        do throws(LockFile.Refusal) {
            return try LockFile(beside: path)
        } catch {
            switch error {
            case .held(let processID):
                let who = processID.map { ", pid \($0)" } ?? ""
                throw StartRefusal(.alreadyRunning, "authd is already running\(who), \(role)")
            case .failed(let failure): throw StartRefusal(.systemError, "\(failure)")
            }
        }
    }
}

import AuthModel
import CSecret
import GLibRuntime

extension StoreError {
    /// The consequence of a failed call to the keyring for the caller. Errors of GLib and of the service contain names of
    /// calls and object paths, never values.
    init(_ failure: GLibFailure) {
        self =
            switch failure {
            case .timedOut(let limit): .notAnswering(after: limit)
            case .cancelled: .failed(reason: "the call was cancelled")
            case .ended: .missing(reason: "the connection to the keyring was closed")
            case .error(let error): Self(error)
            }
    }

    private init(_ error: GLibError) {
        if error.domain == .secret, error.code == SECRET_ERROR_IS_LOCKED.rawValue {
            self = .locked
        } else if error.isAbsence {
            self = .missing(reason: error.message)
        } else if error.isRefusal {
            self = .denied(reason: error.message)
        } else if error.domain == .dbus, error.code == G_DBUS_ERROR_NO_REPLY.rawValue {
            // The bus reports this for a service that exited during the call.
            self = .missing(reason: "the keyring exited before it responded")
        } else {
            self = .failed(reason: error.message)
        }
    }
}

extension GLibError {
    static let noBus = GLibError(
        domain: .io, code: Int32(G_IO_ERROR_NOT_FOUND.rawValue),
        message: "there is no message bus: set DBUS_SESSION_BUS_ADDRESS or XDG_RUNTIME_DIR")

    /// Background work never makes the bus start a service: it could take the name from one that the user is about to start,
    /// and such a service then exits (KeePassXC does).
    static let noService = GLibError(
        domain: .dbus, code: Int32(G_DBUS_ERROR_NAME_HAS_NO_OWNER.rawValue),
        message: "no program on this message bus provides org.freedesktop.secrets")

    var isUnowned: Bool { domain == .dbus && code == Int32(G_DBUS_ERROR_NAME_HAS_NO_OWNER.rawValue) }

    /// No service can reply.
    fileprivate var isAbsence: Bool {
        switch domain {
        case .dbus:
            [
                G_DBUS_ERROR_SERVICE_UNKNOWN, G_DBUS_ERROR_NAME_HAS_NO_OWNER, G_DBUS_ERROR_NO_SERVER,
                G_DBUS_ERROR_NO_NETWORK, G_DBUS_ERROR_DISCONNECTED, G_DBUS_ERROR_BAD_ADDRESS,
                G_DBUS_ERROR_SPAWN_EXEC_FAILED, G_DBUS_ERROR_SPAWN_FORK_FAILED, G_DBUS_ERROR_SPAWN_CHILD_EXITED,
                G_DBUS_ERROR_SPAWN_CHILD_SIGNALED, G_DBUS_ERROR_SPAWN_FAILED, G_DBUS_ERROR_SPAWN_SETUP_FAILED,
                G_DBUS_ERROR_SPAWN_SERVICE_NOT_FOUND, G_DBUS_ERROR_SPAWN_FILE_INVALID,
            ].contains { code == Int32($0.rawValue) }
        case .io:
            [
                G_IO_ERROR_CLOSED, G_IO_ERROR_NOT_CONNECTED, G_IO_ERROR_NOT_FOUND, G_IO_ERROR_CONNECTION_REFUSED,
                G_IO_ERROR_BROKEN_PIPE,
            ].contains { code == Int32($0.rawValue) }
        case .secret, .other: false
        }
    }

    fileprivate var isRefusal: Bool {
        switch domain {
        case .dbus:
            [G_DBUS_ERROR_ACCESS_DENIED, G_DBUS_ERROR_AUTH_FAILED].contains { code == Int32($0.rawValue) }
        case .io:
            code == Int32(G_IO_ERROR_PERMISSION_DENIED.rawValue)
        case .secret, .other: false
        }
    }
}

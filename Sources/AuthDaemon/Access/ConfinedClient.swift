package import AuthModel
import AuthWire

/// Why a client is confined.
package enum ConfinedClient: Error, Sendable, Equatable {
    /// It uses a socket for limited access.
    case socket(ListenerName)
    case processNamespace
    case userNamespace
    case flatpak
    case snap
    /// It had ended before it could be identified.
    case ended
    /// Its namespaces cannot be read.
    case unreadable
    /// A system call failed with this errno while it was identified.
    case failed(CInt)
    /// It is refused, so it was not identified.
    case refused

    /// For error messages.
    var text: String {
        switch self {
        case .socket(.extra): "This client uses the extra socket"
        case .socket(let name): "This client uses the socket '\(name.rawValue)'"
        case .processNamespace: "This client is in a sandbox (another process namespace)"
        case .userNamespace: "This client is in a sandbox (another user namespace)"
        case .flatpak: "This client is in a sandbox (Flatpak)"
        case .snap: "This client is in a sandbox (a confined snap)"
        case .ended: "This client ended before it could be identified"
        case .unreadable: "It is not known whether this client is in a sandbox (the agent may not read its namespaces)"
        case .failed(let number):
            "It is not known whether this client is in a sandbox (\(SystemError.text(number)))"
        case .refused: "This client was refused"
        }
    }

    /// The listener whose table says what it may do.
    var boundary: ListenerName {
        if case .socket(let name) = self { name } else { .extra }
    }

    /// The kind of sandbox; `nil` if it is not confined because of one.
    var sandbox: CallerIdentity.Sandbox? {
        switch self {
        case .socket, .refused: nil
        case .processNamespace: .processNamespace
        case .userNamespace: .userNamespace
        case .flatpak: .flatpak
        case .snap: .snap
        case .ended, .unreadable, .failed: .unknown
        }
    }
}

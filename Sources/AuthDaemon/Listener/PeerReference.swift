import CSystemd
import Glibc

/// How a client is connected.
enum PeerEnd: Equatable {
    /// Its connection.
    case socket(CInt)
    /// Over the message bus, with the label that it reported.
    case bus(label: String?)

    /// -1 without one.
    var socket: CInt {
        if case .socket(let descriptor) = self { descriptor } else { -1 }
    }

    /// The label of a security module; `nil` without one.
    func label() throws(ConfinedClient) -> String? {
        switch self {
        case .socket(let descriptor): try ProcText.label(of: descriptor)
        case .bus(let label): label
        }
    }
}

/// How the process that has connected is found later.
enum PeerReference: Equatable {
    /// Its pidfd, which belongs to its ``PeerProcess``.
    case descriptor(CInt)
    /// The kernel knows it (SO_PEERPIDFD).
    case socket
    /// When the process with its number was started, read when it connected; `nil`: unknown. For Linux before 6.5.
    case started(UInt64?)

    /// Its pidfd, or -1, and whether the caller must close it.
    func open(_ processID: Int32, at socket: CInt) -> (descriptor: CInt, isOurs: Bool) {
        switch self {
        case .descriptor(let descriptor): (descriptor, false)
        case .socket: (authd_peer_process(socket), true)
        case .started(nil): (-1, false)
        case .started: (authd_open_process(processID), true)
        }
    }

    /// Whether what was read is of the process that has connected, as far as its start says.
    func allows(startTicks: UInt64?) -> Bool {
        guard case .started(let ticks) = self else { return true }
        return ticks == startTicks
    }
}

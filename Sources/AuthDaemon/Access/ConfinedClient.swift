/// Why a client is confined.
package enum ConfinedClient: String, Error, Sendable {
    case extraSocket
    case processNamespace
    case userNamespace
    case flatpak
    case snap
    /// It had ended before it could be identified.
    case unidentified

    /// For error messages.
    var text: String {
        switch self {
        case .extraSocket: "This client uses the extra socket"
        case .processNamespace: "This client is in a sandbox (another process namespace)"
        case .userNamespace: "This client is in a sandbox (another user namespace)"
        case .flatpak: "This client is in a sandbox (Flatpak)"
        case .snap: "This client is in a sandbox (a confined snap)"
        case .unidentified: "This client ended before it could be identified"
        }
    }
}

/// Who is at the other end of a connection, as far as the agent decides about it.
struct Caller {
    /// `nil` for a confined client.
    let process: PeerProcess?
    /// `nil`: it may do everything.
    let confinement: Confinement?

    static func confined(_ client: ConfinedClient, by confinement: Confinement) -> Caller {
        var confinement = confinement
        confinement.client = client
        return Caller(process: nil, confinement: confinement)
    }
}

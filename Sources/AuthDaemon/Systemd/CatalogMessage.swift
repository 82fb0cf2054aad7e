package import Logging

/// Messages that `journalctl -x` explains (systemd/authd.catalog): MESSAGE_ID= of systemd.journal-fields(7).
package enum CatalogMessage: String, CaseIterable {
    case signInRequired = "f57cccd4535748488237e2a3163e7a78"
    case storeUnavailable = "4ed623d1db004f8f8e00d5003257fa5e"
    case tokensInMemoryOnly = "32460814717e48be9fb3a5a88028514a"
    case brokenSettings = "f96d6dcfffab4a54801c88a53c1c1a70"
    case reloadRefused = "19128681d7984a7fa308a750a076642b"
    case clientsWait = "bf8b3dd6c8974e919817da8d913eeadc"
    case newProgramRefused = "66318bcbdd65416da2c332c13a18ddeb"
    case audit = "6ca55b1e19d84f64a3e4c210798453dc"

    /// Only the journal shows it.
    static let key = "message_id"

    package func metadata(_ more: Logger.Metadata = [:]) -> Logger.Metadata {
        more.merging([Self.key: "\(rawValue)"]) { $1 }
    }
}

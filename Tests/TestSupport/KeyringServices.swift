import Foundation

/// The programs beside this file that replace a keyring or its user.
package enum KeyringServices {
    /// Misbehaves on order.
    package static let faulty = path("secret-service.py")
    /// KWallet, open as after a login.
    package static let kwallet = path("kwallet")
    /// Answers the prompts of gnome-keyring.
    package static let person = path("person.py")

    private static func path(_ name: String) -> String {
        URL(filePath: #filePath).deletingLastPathComponent().appending(path: name).path
    }

    /// What ``faulty`` can be like; its file says what each is.
    package enum Behaviour: String, Sendable {
        case well, locked, dismissing, waiting, hiding, deaf, clinging, asking, refusing, tiring
        case silentWrites = "silent-writes"
        case agreeing, failing, flaky, dying, forgetful, undated
    }
}

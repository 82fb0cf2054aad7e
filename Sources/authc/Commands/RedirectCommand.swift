import ArgumentParser
import AuthWire
import Glibc

/// What the desktop calls at the end of a sign-in whose redirect is a scheme of ours.
struct Redirect: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Hand the address that a sign-in ended at to the agent.",
        discussion: "The desktop calls it. Nothing comes of an address that no sign-in waits for.",
        shouldDisplay: false)

    @OptionGroup var common: GeneralOptions

    @Argument(help: "The address; without one it is read from stdin.")
    var address: String?

    /// More is no address; the agent's own limit is lower.
    private static let longest = 64 << 10

    func run() throws {
        try common.run { options throws(Failure) in
            try options.prepareForSecrets()
            var text = if let address { address } else { try Self.fromInput() }
            while text.last?.isWhitespace == true { text.removeLast() }
            _ = try options.connect().call(LoginRedirect(address: text))
            return .done
        }
    }

    private static func fromInput() throws(Failure) -> String {
        String(decoding: try FileText.read(STDIN_FILENO, named: "stdin", atMost: longest), as: UTF8.self)
    }
}

/// The desktop entry of a program that opens addresses of a scheme (Desktop Entry Specification 1.5).
struct DesktopEntry {
    let scheme: String
    /// The program and its arguments. The desktop appends the address.
    let command: [String]

    /// Allowed in a scheme, and so in the file's name.
    private static let letters = Set("abcdefghijklmnopqrstuvwxyz0123456789.-")
    private static let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,:@=")

    /// `nil` if the scheme or the command cannot be written in an entry.
    init?(scheme: String, command: [String]) {
        let isPlain = scheme.contains(".") && scheme.allSatisfy(Self.letters.contains)
        guard isPlain, command.allSatisfy({ $0.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F } })
        else { return nil }
        self.scheme = scheme
        self.command = command
    }

    /// All sign-ins with the scheme share the file: the agent knows which one an address belongs to.
    var fileName: String { "authd-\(scheme).desktop" }

    var type: String { "x-scheme-handler/" + scheme }

    var text: String {
        """
        [Desktop Entry]
        Type=Application
        Name=authd sign-in
        Comment=Returns you from the browser; exists only while a sign-in is in progress
        Exec=\(command.map(Self.quoted).joined(separator: " ")) %u
        MimeType=\(type);
        NoDisplay=true
        Terminal=false
        StartupNotify=false

        """
    }

    /// Quotes as `Exec` requires, and then as strings require: a backslash is two, in quotes four.
    private static func quoted(_ argument: String) -> String {
        guard !argument.allSatisfy(plain.contains) else { return argument }
        var quoted = "\""
        // Scalars: a quote with a combining mark is another character, but a desktop still sees the quote.
        for scalar in argument.unicodeScalars {
            switch scalar {
            case "\"", "`", "$": quoted += "\\\\" + String(scalar)
            case "\\": quoted += "\\\\\\\\"
            case "%": quoted += "%%"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}

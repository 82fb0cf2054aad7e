/// What the desktop reads of a program that opens addresses of a scheme (Desktop Entry Specification 1.5).
struct DesktopEntry {
    let scheme: String
    /// The program and its arguments; the address comes after them.
    let command: [String]

    /// What may stand in a scheme, and so in the name of a file.
    private static let letters = Set("abcdefghijklmnopqrstuvwxyz0123456789.-")
    private static let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,:@=")

    /// `nil` for what cannot be written into one.
    init?(scheme: String, command: [String]) {
        let isPlain = scheme.contains(".") && scheme.allSatisfy(Self.letters.contains)
        guard isPlain, command.allSatisfy({ $0.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F } })
        else { return nil }
        self.scheme = scheme
        self.command = command
    }

    /// One for all sign-ins with that scheme: whichever is asked, the agent knows whose an address is.
    var fileName: String { "authd-\(scheme).desktop" }

    var type: String { "x-scheme-handler/" + scheme }

    var text: String {
        """
        [Desktop Entry]
        Type=Application
        Name=authd sign-in
        Comment=Takes you back from the browser; there only while a sign-in is under way
        Exec=\(command.map(Self.quoted).joined(separator: " ")) %u
        MimeType=\(type);
        NoDisplay=true
        Terminal=false
        StartupNotify=false

        """
    }

    /// As arguments of `Exec` are written, and then as texts are: a backslash is two, in quotes it is four.
    private static func quoted(_ argument: String) -> String {
        guard !argument.allSatisfy(plain.contains) else { return argument }
        var quoted = "\""
        for character in argument {
            switch character {
            case "\"", "`", "$": quoted += "\\\\" + String(character)
            case "\\": quoted += "\\\\\\\\"
            case "%": quoted += "%%"
            default: quoted.append(character)
            }
        }
        return quoted + "\""
    }
}

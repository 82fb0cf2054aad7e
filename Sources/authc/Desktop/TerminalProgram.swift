import AuthFiles

/// A program that shows a terminal, and what it expects before a command.
struct TerminalProgram: Equatable {
    let name: String
    let options: [String]

    /// The programs of the xdg-terminal-exec proposal and of Debian's policy (11.8.3), then those that GLib starts for desktop
    /// entries with `Terminal=true`, and others for Wayland.
    private static let known = [
        TerminalProgram(name: "xdg-terminal-exec", options: []),
        TerminalProgram(name: "x-terminal-emulator", options: ["-e"]),
        TerminalProgram(name: "kgx", options: ["-e"]),
        TerminalProgram(name: "ptyxis", options: ["--"]),
        TerminalProgram(name: "gnome-terminal", options: ["--"]),
        TerminalProgram(name: "mate-terminal", options: ["-x"]),
        TerminalProgram(name: "xfce4-terminal", options: ["-x"]),
        TerminalProgram(name: "tilix", options: ["-e"]),
        TerminalProgram(name: "konsole", options: ["-e"]),
        TerminalProgram(name: "foot", options: []),
        TerminalProgram(name: "alacritty", options: ["-e"]),
        TerminalProgram(name: "kitty", options: []),
        TerminalProgram(name: "wezterm", options: ["start", "--"]),
        TerminalProgram(name: "rxvt", options: ["-e"]),
        TerminalProgram(name: "xterm", options: ["-e"]),
    ]

    /// In the order of choice: the user's own first.
    /// - Parameter chosen: `$TERMINAL`, a program's name or path.
    static func candidates(chosen: String?) -> [TerminalProgram] {
        guard let chosen, !chosen.isEmpty else { return known }
        let name = chosen.split(separator: "/").last.map(String.init) ?? chosen
        let options = known.first { $0.name == name }?.options ?? ["-e"]
        return [TerminalProgram(name: chosen, options: options)] + known
    }
}

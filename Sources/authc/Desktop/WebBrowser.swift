import AuthConnection
import AuthFiles
import AuthProcesses
import Glibc

/// The user's browser, if there is one on this machine.
enum WebBrowser {
    /// Over SSH, in WSL and without a display, the user would not see a browser.
    static var isHere: Bool {
        let elsewhere = ["SSH_CONNECTION", "SSH_TTY", "WSL_DISTRO_NAME", "WSL_INTEROP"]
        guard !elsewhere.contains(where: isSet) else { return false }
        return ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"].contains(where: isSet)
    }

    /// Whether ``open(_:)`` would show it on this screen.
    static var canOpen: Bool {
        let folders = (environmentValue("PATH") ?? "").split(separator: ":")
        return isHere && folders.contains { unsafe access($0 + "/xdg-open", X_OK) == 0 }
    }

    /// Makes the desktop open an address, through its portal if there is one (xdg-open(1)).
    /// - Returns: whether xdg-open was started. The user sees the address in any case.
    static func open(_ url: String) -> Bool {
        // Anything else could be read as a file or an option.
        guard url.hasPrefix("https://") || url.hasPrefix("http://") else { return false }
        do throws(SystemFailure) {
            var program = try ProgramStart(["xdg-open", url])
            // ^C must not end the browser, and its output is not for this terminal.
            program.separate(.group)
            program.passNothing(as: STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO)
            _ = try program.start()
            return true
        } catch {
            return false
        }
    }

    private static func isSet(_ name: String) -> Bool { environmentValue(name).map { !$0.isEmpty } ?? false }
}

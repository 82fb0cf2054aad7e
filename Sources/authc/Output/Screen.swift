import AuthConnection
import AuthWire
import Glibc

/// What the output can show: its width, colours, and characters beyond ASCII.
struct Screen {
    var width: Int
    var height = 24
    var isColoured: Bool
    var isUnicode: Bool
    /// If not, programs may read the lines too.
    var isTerminal: Bool
    /// Whether text on it can be replaced.
    var movesCursor = false

    /// The current state of stdout.
    static var current: Screen { of(STDOUT_FILENO) }

    /// The same, however narrow it is: for output that must not be wrapped.
    static var exact: Screen { of(STDOUT_FILENO, narrowest: 1) }

    /// The current state of a descriptor.
    static func of(_ descriptor: Int32, narrowest: Int = TerminalText.fewestColumns) -> Screen {
        let isTerminal = isatty(descriptor) == 1
        let movesCursor = isTerminal && !["dumb", nil].contains(environmentText("TERM"))
        let size = isTerminal ? terminalSize(descriptor) : defaultSize
        return Screen(
            width: max(Int(size.ws_col), narrowest), height: max(Int(size.ws_row), 1),
            isColoured: movesCursor && environmentText("NO_COLOR") == nil,
            isUnicode: TerminalText.isUnicode(environment: environmentValue), isTerminal: isTerminal,
            movesCursor: movesCursor)
    }

    /// An empty variable counts as not set (no-color.org, locale(7)).
    private static func environmentText(_ name: String) -> String? {
        guard let value = environmentValue(name), !value.isEmpty else { return nil }
        return value
    }

    private static func terminalSize(_ descriptor: Int32) -> winsize {
        var size = winsize()
        if unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) != 0 || size.ws_col == 0 {
            return defaultSize
        }
        return size
    }

    private static var defaultSize: winsize {
        winsize(ws_row: 24, ws_col: UInt16(TerminalText.usualColumns), ws_xpixel: 0, ws_ypixel: 0)
    }

    enum Colour: String {
        case green = "32"
        case yellow = "33"
        case red = "31"
        case dim = "2"
        case bold = "1"
    }

    /// The text in characters that this screen can show.
    func shown(_ text: String) -> String { TerminalText.shown(text, isUnicode: isUnicode) }

    func paint(_ text: String, _ colour: Colour) -> String {
        isColoured ? "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m" : text
    }
}

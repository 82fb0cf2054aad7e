import AuthWire

/// The paths of the objects on the bus.
enum BusPath {
    static let agent = "/org/authd"
    static let sessions = "/org/authd/session"

    /// Letters and digits stay; another byte, and a digit at the beginning, is `_` and two hexadecimal digits, as
    /// sd_bus_path_encode(3) has it.
    static func session(_ name: SessionName) -> String {
        var path = sessions + "/"
        for (place, byte) in name.text.utf8.enumerated() {
            if isLetter(byte) || (place > 0 && isDigit(byte)) {
                path.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16)
                path += (digits.count == 1 ? "_0" : "_") + digits
            }
        }
        return path
    }

    /// `nil` if no session can have this path.
    static func session(at path: String) -> SessionName? {
        let end = path.utf8.dropFirst(sessions.utf8.count + 1)
        guard path.hasPrefix(sessions + "/"), let bytes = BusEscape.bytes(of: end, mark: UInt8(ascii: "_")) else {
            return nil
        }
        // Each name has one path only.
        guard let name = try? SessionName(String(decoding: bytes, as: UTF8.self)), session(name) == path else {
            return nil
        }
        return name
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}

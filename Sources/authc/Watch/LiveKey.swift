/// A key of the live view.
enum LiveKey: Equatable {
    case up, down, top, bottom, pageUp, pageDown, escape
    case character(Character)
    /// ^L
    case redraw
    /// ^D, or the terminal is gone.
    case end

    private static let escapeByte: UInt8 = 0x1B

    /// What a terminal in raw mode has sent, by one read. Unknown keys are left out.
    static func parse(_ bytes: [UInt8]) -> [LiveKey] {
        var keys: [LiveKey] = []
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            switch byte {
            case escapeByte where rest.first == UInt8(ascii: "[") || rest.first == UInt8(ascii: "O"):
                rest.removeFirst()
                // Parameters, and the byte that ends the sequence (ECMA-48 §5.4).
                let parameters = rest.prefix { (0x20...0x3F).contains($0) }
                rest = rest.dropFirst(parameters.count)
                if let last = rest.popFirst() { keys += [sequence(parameters, last)].compactMap(\.self) }
            case escapeByte: keys.append(.escape)
            case 0x0C: keys.append(.redraw)
            case 0x04: keys.append(.end)
            case 0x20...0x7E: keys.append(.character(Character(Unicode.Scalar(byte))))
            default: break
            }
        }
        return keys
    }

    private static func sequence(_ parameters: ArraySlice<UInt8>, _ last: UInt8) -> LiveKey? {
        switch (String(decoding: parameters, as: UTF8.self), Character(Unicode.Scalar(last))) {
        case ("", "A"): .up
        case ("", "B"): .down
        case ("", "H"), ("1", "~"), ("7", "~"): .top
        case ("", "F"), ("4", "~"), ("8", "~"): .bottom
        case ("5", "~"): .pageUp
        case ("6", "~"): .pageDown
        default: nil
        }
    }
}

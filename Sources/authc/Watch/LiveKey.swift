/// A key of the live view.
enum LiveKey: Equatable {
    case up, down, top, bottom, pageUp, pageDown, tab, backTab, escape
    case character(Character)
    /// ^L
    case redraw
    /// ^D, or the terminal is gone.
    case end

    private static let escapeByte: UInt8 = 0x1B

    private static let pasteEnd = Array("\u{1B}[201~".utf8)

    /// What is left of the reads so far.
    struct Input {
        /// The beginning of a sequence.
        fileprivate var rest: [UInt8] = []
        /// Pasted text is no keys (bracketed paste, xterm).
        fileprivate(set) var isPasting = false
    }

    /// What a terminal in raw mode has sent, by one read. Unknown keys and pasted text are left out.
    static func parse(_ bytes: [UInt8], after input: inout Input) -> [LiveKey] {
        var keys: [LiveKey] = []
        let all = input.rest + bytes
        var rest = all[...]
        input.rest = []
        while true {
            if input.isPasting {
                guard let end = rest.firstRange(of: pasteEnd) else {
                    input.rest = Array(rest.suffix(pasteEnd.count - 1))
                    return keys
                }
                rest = rest[end.upperBound...]
                input.isPasting = false
            }
            let start = rest
            guard let byte = rest.popFirst() else { return keys }
            switch byte {
            case escapeByte where rest.first == UInt8(ascii: "[") || rest.first == UInt8(ascii: "O"):
                rest.removeFirst()
                // Parameters, and the byte that ends the sequence (ECMA-48 §5.4).
                let parameters = rest.prefix { (0x20...0x3F).contains($0) }
                rest = rest.dropFirst(parameters.count)
                guard let last = rest.popFirst() else {
                    // The rest comes with the next read. No key has a longer sequence.
                    if start.count <= longest { input.rest = Array(start) }
                    return keys
                }
                input.isPasting = last == UInt8(ascii: "~") && parameters.elementsEqual("200".utf8)
                keys += [sequence(parameters, last)].compactMap(\.self)
            case escapeByte: keys.append(.escape)
            case 0x09: keys.append(.tab)
            case 0x0C: keys.append(.redraw)
            case 0x04: keys.append(.end)
            case 0x20...0x7E: keys.append(.character(Character(Unicode.Scalar(byte))))
            default: break
            }
        }
    }

    /// Bytes of a sequence.
    private static let longest = 16

    private static func sequence(_ parameters: ArraySlice<UInt8>, _ last: UInt8) -> LiveKey? {
        switch (String(decoding: parameters, as: UTF8.self), Character(Unicode.Scalar(last))) {
        case ("", "A"): .up
        case ("", "B"): .down
        case ("", "Z"): .backTab
        case ("", "H"), ("1", "~"), ("7", "~"): .top
        case ("", "F"), ("4", "~"), ("8", "~"): .bottom
        case ("5", "~"): .pageUp
        case ("6", "~"): .pageDown
        default: nil
        }
    }
}

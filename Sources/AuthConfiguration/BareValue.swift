/// Checks the syntax of TOML 1.0.0 values without quotes or brackets.
///
/// The TOML library guesses a value's type from its characters and checks it later, partly with assertions: an invalid value
/// must never reach it. The library decides whether a date exists or a number fits.
enum BareValue {
    /// - Parameter text: letters, digits and `_ + - . :`, with a space between date and time.
    static func isValid(_ text: ArraySlice<UInt8>) -> Bool {
        switch String(decoding: text, as: UTF8.self) {
        case "true", "false", "inf", "+inf", "-inf", "nan", "+nan", "-nan": true
        default: isNumber(text) || isDate(text)
        }
    }

    // MARK: Numbers

    private static func isNumber(_ text: ArraySlice<UInt8>) -> Bool {
        for (prefix, digits) in [("0x", isHexDigit), ("0o", isOctalDigit), ("0b", isBinaryDigit)]
        where text.starts(with: prefix.utf8) {
            return isGroup(text.dropFirst(2), digits)
        }
        var rest = text
        if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest.removeFirst() }
        let whole = rest.prefix { isDigit($0) || $0 == UInt8(ascii: "_") }
        guard isGroup(whole, isDigit), whole.count == 1 || whole.first != UInt8(ascii: "0") else { return false }
        rest = rest.dropFirst(whole.count)
        if rest.first == UInt8(ascii: ".") {
            let part = rest.dropFirst().prefix { isDigit($0) || $0 == UInt8(ascii: "_") }
            guard isGroup(part, isDigit) else { return false }
            rest = rest.dropFirst(1 + part.count)
        }
        guard rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") else { return rest.isEmpty }
        rest.removeFirst()
        if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest.removeFirst() }
        return isGroup(rest, isDigit)
    }

    /// Digits, with single underscores between them.
    private static func isGroup(_ text: ArraySlice<UInt8>, _ isDigit: (UInt8) -> Bool) -> Bool {
        text.split(separator: UInt8(ascii: "_"), omittingEmptySubsequences: false)
            .allSatisfy { !$0.isEmpty && $0.allSatisfy(isDigit) }
    }

    // MARK: Dates and times (RFC 3339)

    private static func isDate(_ text: ArraySlice<UInt8>) -> Bool {
        guard let rest = after("0000-00-00", in: text) else { return isTime(text) == .local }
        guard let mark = rest.first else { return true }
        return "Tt ".utf8.contains(mark) && isTime(rest.dropFirst()) != nil
    }

    private enum Zone {
        case local, known
    }

    private static func isTime(_ text: ArraySlice<UInt8>) -> Zone? {
        guard var rest = after("00:00:00", in: text) else { return nil }
        if rest.first == UInt8(ascii: ".") {
            let part = rest.dropFirst().prefix(while: isDigit)
            guard !part.isEmpty else { return nil }
            rest = rest.dropFirst(1 + part.count)
        }
        switch rest.first {
        case nil: return .local
        case UInt8(ascii: "Z"), UInt8(ascii: "z"): return rest.count == 1 ? .known : nil
        case UInt8(ascii: "+"), UInt8(ascii: "-"):
            return after("00:00", in: rest.dropFirst())?.isEmpty == true ? .known : nil
        default: return nil
        }
    }

    /// The rest after text of this form; `0` stands for any digit.
    private static func after(_ form: String, in text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let start = text.prefix(form.utf8.count)
        let fits = zip(form.utf8, start).allSatisfy { $0 == UInt8(ascii: "0") ? isDigit($1) : $0 == $1 }
        return fits && start.count == form.utf8.count ? text.dropFirst(start.count) : nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
    private static func isOctalDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "7")).contains(byte) }
    private static func isBinaryDigit(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "0") || byte == UInt8(ascii: "1") }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
            || (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(byte)
    }
}

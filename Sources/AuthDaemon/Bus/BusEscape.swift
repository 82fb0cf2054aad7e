/// How paths and addresses of a message bus encode bytes that they cannot contain: a mark and two hexadecimal digits.
enum BusEscape {
    /// `nil` if a mark is not followed by two digits.
    static func bytes(of text: Substring.UTF8View, mark: UInt8) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == mark else {
                bytes.append(byte)
                continue
            }
            guard let digits = String(rest.prefix(2)), digits.utf8.count == 2, let escaped = UInt8(digits, radix: 16)
            else { return nil }
            bytes.append(escaped)
            rest = rest.dropFirst(2)
        }
        return bytes
    }
}

import CStart

/// Bytes that belong to the command line, the environment or a buffer. `String` would bring tables of Unicode along.
@safe struct Text {
    let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) {
        unsafe self.bytes = bytes
    }

    /// Without any bytes.
    init() {
        unsafe bytes = UnsafeRawBufferPointer(start: nil, count: 0)
    }

    init(cString: UnsafePointer<CChar>) {
        unsafe bytes = UnsafeRawBufferPointer(start: cString, count: strlen(cString))
    }

    /// `nil` if the variable is not set or empty (environ(7)).
    init?(environment name: StaticString) {
        let value = unsafe name.utf8Start.withMemoryRebound(to: CChar.self, capacity: name.utf8CodeUnitCount + 1) {
            unsafe getenv($0)
        }
        guard let value = unsafe value, unsafe value.pointee != 0 else { return nil }
        unsafe self.init(cString: value)
    }

    var count: Int { unsafe bytes.count }

    /// `nil` after the end.
    subscript(_ place: Int) -> UInt8? { unsafe place < bytes.count ? bytes[place] : nil }

    func equals(_ other: StaticString) -> Bool {
        count == other.utf8CodeUnitCount && starts(with: other)
    }

    func equals(_ other: Text) -> Bool { unsafe bytes.elementsEqual(other.bytes) }

    func starts(with other: StaticString) -> Bool {
        guard count >= other.utf8CodeUnitCount, let start = unsafe bytes.baseAddress else { return false }
        return unsafe memcmp(start, other.utf8Start, other.utf8CodeUnitCount) == 0
    }

    func starts(with other: ByteString) -> Bool {
        guard count >= other.bytes.count, let start = unsafe bytes.baseAddress else { return false }
        return unsafe other.bytes.withUnsafeBytes { other in
            unsafe other.baseAddress.map { unsafe memcmp(start, $0, other.count) == 0 } ?? true
        }
    }

    /// For a `switch`.
    static func ~= (pattern: StaticString, text: Text) -> Bool { text.equals(pattern) }

    /// Byte by byte.
    static func < (left: Text, right: Text) -> Bool {
        for place in 0..<min(left.count, right.count) where left[place] != right[place] {
            return unsafe left.bytes[place] < right.bytes[place]
        }
        return left.count < right.count
    }

    /// The part after the first so many bytes.
    func dropping(_ length: Int) -> Text { unsafe Text(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(length))) }

    /// The first so many bytes.
    func prefix(_ length: Int) -> Text { unsafe Text(UnsafeRawBufferPointer(rebasing: bytes.prefix(length))) }

    /// The part before the first such byte; `nil` if there is none.
    func prefix(before end: UInt8) -> Text? {
        unsafe bytes.firstIndex(of: end).map { prefix($0) }
    }

    /// The parts before and after the first such byte; `nil` if there is none.
    func divided(at byte: UInt8) -> (Text, Text)? {
        guard let head = prefix(before: byte) else { return nil }
        return (head, dropping(head.count + 1))
    }

    /// The number that these digits are; `nil` for any other text.
    var decimal: Int? {
        guard count > 0, count <= Self.mostDigits else { return nil }
        var number = 0
        for place in 0..<count {
            guard let byte = self[place], byte >= .zero, byte <= UInt8(ascii: "9") else { return nil }
            number = number * 10 + Int(byte - .zero)
        }
        return number
    }

    /// Enough for the sizes of files, and far from the largest `Int`.
    private static let mostDigits = 9

    func contains(_ byte: UInt8) -> Bool { unsafe bytes.contains(byte) }

    /// Visible ASCII and spaces: a terminal acts on none of them.
    var isPrintable: Bool { unsafe bytes.allSatisfy { $0 >= 0x20 && $0 <= 0x7E } }
}

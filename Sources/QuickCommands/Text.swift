import CStart

/// Bytes that belong to the command line, the environment or a buffer. `String` would bring tables of Unicode along.
@safe struct Text {
    let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) {
        unsafe self.bytes = bytes
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

    func equals(_ other: StaticString) -> Bool {
        count == other.utf8CodeUnitCount && starts(with: other)
    }

    func starts(with other: StaticString) -> Bool {
        guard count >= other.utf8CodeUnitCount, let start = unsafe bytes.baseAddress else { return false }
        return unsafe memcmp(start, other.utf8Start, other.utf8CodeUnitCount) == 0
    }

    /// The part after the first so many bytes.
    func dropping(_ length: Int) -> Text { unsafe Text(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(length))) }

    /// The part before the first such byte; `nil` if there is none.
    func prefix(before end: UInt8) -> Text? {
        guard let place = unsafe bytes.firstIndex(of: end) else { return nil }
        return unsafe Text(UnsafeRawBufferPointer(rebasing: bytes[..<place]))
    }

    /// Visible ASCII and spaces: a terminal acts on none of them.
    var isPrintable: Bool { unsafe bytes.allSatisfy { $0 >= 0x20 && $0 <= 0x7E } }
}

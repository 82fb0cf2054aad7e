/// Bytes that are put together from parts: a path, or lines for the agent.
struct ByteString {
    private(set) var bytes: [UInt8] = []

    init() {}

    init(_ text: Text) {
        append(text)
    }

    init(_ text: StaticString) {
        append(text)
    }

    mutating func append(_ text: Text) {
        unsafe bytes.append(contentsOf: text.bytes)
    }

    mutating func append(_ text: StaticString) {
        unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func append(_ other: ByteString) {
        bytes.append(contentsOf: other.bytes)
    }

    mutating func append(_ byte: UInt8, times: Int) {
        for _ in 0..<max(0, times) { bytes.append(byte) }
    }

    mutating func removeSpacesAtEnd() {
        while bytes.last == .space { bytes.removeLast() }
    }

    /// Appends bytes that a function writes.
    /// - Parameter fill: gets room for `count` bytes.
    /// - Returns: what it returns: whether it has written all of them.
    mutating func append(count: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Bool) -> Bool {
        let start = bytes.count
        bytes.append(contentsOf: repeatElement(0, count: count))
        return unsafe bytes.withUnsafeMutableBytes { room in
            unsafe fill(UnsafeMutableRawBufferPointer(rebasing: room[start...]))
        }
    }

    /// - Parameter number: 0 or more.
    mutating func append(_ number: Int) {
        if number >= 10 { append(number / 10) }
        bytes.append(.zero + UInt8(number % 10))
    }

    /// With two digits at least.
    mutating func append(twoDigits number: Int) {
        if number < 10 { bytes.append(.zero) }
        append(number)
    }

    /// - Parameter body: gets the text as C functions take it, with an ending zero byte.
    func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        let ended = bytes + [0]
        return unsafe ended.withUnsafeBytes { bytes in
            unsafe bytes.withMemoryRebound(to: CChar.self) { text in
                // It has at least the ending zero byte.
                unsafe body(text.baseAddress.unsafelyUnwrapped)
            }
        }
    }
}

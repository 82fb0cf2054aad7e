/// Bytes that are put together from parts: a path, or lines for the agent.
struct ByteString {
    private(set) var bytes: [UInt8] = []

    init() {}

    init(_ text: Text) {
        append(text)
    }

    mutating func append(_ text: Text) {
        unsafe bytes.append(contentsOf: text.bytes)
    }

    mutating func append(_ text: StaticString) {
        unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
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

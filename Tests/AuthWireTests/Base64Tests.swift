import AuthWire
import Testing

struct Base64Tests {
    /// RFC 4648 §10.
    static let vectors = [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ]

    @Test("RFC 4648's own examples are written and read", arguments: vectors)
    func examples(text: String, coded: String) {
        #expect(Base64.encode(Array(text.utf8)) == coded)
        #expect(Base64.decode(coded) == Array(text.utf8))
    }

    @Test("all bytes round-trip at every length")
    func allBytes() {
        let all = (0..<800).map { UInt8(truncatingIfNeeded: $0 &* 37) }
        for length in 0..<300 {
            let bytes = Array(all[length..<(length + length)])
            #expect(Base64.decode(Base64.encode(bytes)) == bytes)
        }
    }

    @Test(
        "what encoding does not write is not read",
        arguments: [
            "Z", "Zg", "Zg=", "Zg===", "Zm9v=", "Zh==", "Zm9=", "====", "Z===", "Zm 9v", "Zm9v\n", "Zm-_", "Zmö9",
        ])
    func refuses(text: String) {
        #expect(Base64.decode(text) == nil)
    }
}

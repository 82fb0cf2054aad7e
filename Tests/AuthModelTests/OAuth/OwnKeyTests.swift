import AuthModel
import AuthTokens
import AuthWire
import Testing

@Suite("The client's own key")
struct OwnKeyTests {
    @Test(
        "an RSA key must have 2048 to 8192 bits",
        arguments: [(2047, false), (2048, true), (8192, true), (8193, false)])
    func size(bits: Int, isTaken: Bool) {
        #expect(SystemCryptography().publicKey(of: Self.key(bits: bits))?.algorithm == (isTaken ? "RS256" : nil))
    }

    /// PKCS #1 (RFC 8017 §A.1.2) with consistent numbers that need no computation: generating a real key of this length takes a
    /// minute. The factors are 3 and p = 2^(bits - 2) + c, which is 2 modulo 3 and need not be prime.
    private static func key(bits: Int) -> Secret {
        let high = bits - 2
        var p = [UInt8](repeating: 0, count: high / 8 + 1)
        p[0] = 1 << UInt8(high % 8)
        p[p.count - 1] += high.isMultiple(of: 2) ? 1 : 3
        // 3 · (2p - 1) / 3 is 1 modulo p - 1 and modulo 2; 3 · (p + 1) / 3 is 1 modulo p.
        let d = scaled(p, by: 2, plus: -1, over: 3)
        let inverse = scaled(p, by: 1, plus: 1, over: 3)
        let members = [[0], scaled(p, by: 3, plus: 0, over: 1), [3], d, p, [3], d, [1], inverse]
        let text = Base64.encode(element(0x30, members.flatMap(integer)))
        var lines = ["-----BEGIN RSA PRIVATE KEY-----"]
        for start in stride(from: 0, to: text.utf8.count, by: 64) {
            lines.append(String(text.dropFirst(start).prefix(64)))
        }
        return Secret((lines + ["-----END RSA PRIVATE KEY-----", ""]).joined(separator: "\n"))
    }

    /// (`value` · `factor` + `summand`) / `divisor`, with the highest byte first.
    private static func scaled(_ value: [UInt8], by factor: Int, plus summand: Int, over divisor: Int) -> [UInt8] {
        var carry = summand
        var product: [UInt8] = []
        for digit in value.reversed() {
            carry += Int(digit) * factor
            product.append(UInt8(carry & 0xFF))
            carry >>= 8
        }
        product.append(UInt8(carry))
        var rest = 0
        return product.reversed().map { digit in
            rest = rest << 8 + Int(digit)
            defer { rest %= divisor }
            return UInt8(rest / divisor)
        }
    }

    /// DER (X.690 §8.3): positive, without unnecessary leading zeros.
    private static func integer(_ value: [UInt8]) -> [UInt8] {
        let digits = Array(value.drop { $0 == 0 })
        guard let first = digits.first, first < 0x80 else { return element(0x02, [0] + digits) }
        return element(0x02, digits)
    }

    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        if count < 0x80 { return [tag, UInt8(count)] + content }
        if count < 0x100 { return [tag, 0x81, UInt8(count)] + content }
        return [tag, 0x82, UInt8(count >> 8), UInt8(count & 0xFF)] + content
    }
}

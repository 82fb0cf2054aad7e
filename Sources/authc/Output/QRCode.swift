/// A text as a QR code (ISO/IEC 18004): bytes, error correction of level L, the smallest of versions 1 to 10.
struct QRCode {
    /// Modules on each side, without the quiet zone.
    let size: Int
    private var dark: [Bool]
    /// The modules that carry no data.
    private var fixed: [Bool]

    /// Level L by version: all codewords, correction codewords per block, and blocks (table 9).
    private static let versions: [(total: Int, correction: Int, blocks: Int)] = [
        (26, 7, 1), (44, 10, 1), (70, 15, 1), (100, 20, 1), (134, 26, 1), (172, 18, 2), (196, 20, 2), (242, 24, 2),
        (292, 30, 2), (346, 18, 4),
    ]
    /// The places of alignment patterns (annex E).
    private static let alignments = [
        [], [6, 18], [6, 22], [6, 26], [6, 30], [6, 34], [6, 22, 38], [6, 24, 42], [6, 26, 46], [6, 28, 50],
    ]

    /// `nil` for a text that is too long: about 270 bytes.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard
            let version = (1...Self.versions.count).first(where: {
                bytes.count * 8 + 4 + Self.lengthBits($0) <= Self.dataCodewords($0) * 8
            })
        else { return nil }
        size = 17 + 4 * version
        dark = Array(repeating: false, count: size * size)
        fixed = dark
        drawPatterns(version)
        draw(Self.codewords(bytes, version))
        let plain = self
        var best: (penalty: Int, code: QRCode)?
        for mask in 0..<8 {
            var code = plain
            code.apply(mask)
            let penalty = code.penalty
            if penalty < best?.penalty ?? .max { best = (penalty, code) }
        }
        if let best { dark = best.code.dark }
    }

    func isDark(_ column: Int, _ row: Int) -> Bool {
        guard (0..<size).contains(column), (0..<size).contains(row) else { return false }
        return dark[row * size + column]
    }

    // MARK: Data (§7.4, §7.5)

    private static func lengthBits(_ version: Int) -> Int { version < 10 ? 8 : 16 }

    private static func dataCodewords(_ version: Int) -> Int {
        let (total, correction, blocks) = versions[version - 1]
        return total - correction * blocks
    }

    private static func codewords(_ bytes: [UInt8], _ version: Int) -> [UInt8] {
        var bits = Bits()
        bits.append(0b0100, 4)
        bits.append(bytes.count, lengthBits(version))
        for byte in bytes { bits.append(Int(byte), 8) }
        let capacity = dataCodewords(version)
        bits.append(0, min(4, capacity * 8 - bits.count))
        bits.append(0, (8 - bits.count % 8) % 8)
        var data = bits.bytes
        for padding in 0..<(capacity - data.count) { data.append(padding % 2 == 0 ? 0xEC : 0x11) }

        let (_, correction, blocks) = versions[version - 1]
        let short = capacity / blocks
        var parts: [ArraySlice<UInt8>] = []
        var rest = data[...]
        for block in 0..<blocks {
            let length = short + (block >= blocks - capacity % blocks ? 1 : 0)
            parts.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        let checks = parts.map { ReedSolomon.remainder(of: Array($0), degree: correction) }
        let longest = parts.map(\.count).max() ?? 0
        var result: [UInt8] = []
        for index in 0..<longest {
            for part in parts where index < part.count { result.append(part[part.startIndex + index]) }
        }
        for index in 0..<correction { result += checks.map { $0[index] } }
        return result
    }

    // MARK: Patterns (§6.3)

    private mutating func set(_ column: Int, _ row: Int, _ isDark: Bool) {
        guard (0..<size).contains(column), (0..<size).contains(row) else { return }
        dark[row * size + column] = isDark
        fixed[row * size + column] = true
    }

    private mutating func drawPatterns(_ version: Int) {
        for index in 0..<size {
            set(6, index, index % 2 == 0)
            set(index, 6, index % 2 == 0)
        }
        for (column, row) in [(3, 3), (size - 4, 3), (3, size - 4)] {
            for dy in -4...4 {
                for dx in -4...4 {
                    let ring = max(abs(dx), abs(dy))
                    set(column + dx, row + dy, ring != 2 && ring != 4)
                }
            }
        }
        let places = Self.alignments[version - 1]
        for row in places {
            for column in places {
                let isCorner = [(6, 6), (6, size - 7), (size - 7, 6)].contains { $0 == (column, row) }
                guard !isCorner else { continue }
                for dy in -2...2 {
                    for dx in -2...2 { set(column + dx, row + dy, max(abs(dx), abs(dy)) != 1) }
                }
            }
        }
        drawFormat(0)
        if version >= 7 { drawVersion(version) }
    }

    /// §7.9: draws level L and the mask, with a BCH code, in two places.
    private mutating func drawFormat(_ mask: Int) {
        let data = 0b01 << 3 | mask
        var rest = data
        for _ in 0..<10 { rest = rest << 1 ^ (rest >> 9) * 0x537 }
        let bits = (data << 10 | rest) ^ 0x5412
        func bit(_ index: Int) -> Bool { bits >> index & 1 == 1 }
        for index in 0...5 { set(8, index, bit(index)) }
        set(8, 7, bit(6))
        set(8, 8, bit(7))
        set(7, 8, bit(8))
        for index in 9..<15 { set(14 - index, 8, bit(index)) }
        for index in 0..<8 { set(size - 1 - index, 8, bit(index)) }
        for index in 8..<15 { set(8, size - 15 + index, bit(index)) }
        set(8, size - 8, true)
    }

    /// §7.10.
    private mutating func drawVersion(_ version: Int) {
        var rest = version
        for _ in 0..<12 { rest = rest << 1 ^ (rest >> 11) * 0x1F25 }
        let bits = version << 12 | rest
        for index in 0..<18 {
            let (far, near) = (size - 11 + index % 3, index / 3)
            set(far, near, bits >> index & 1 == 1)
            set(near, far, bits >> index & 1 == 1)
        }
    }

    /// §7.7.3: draws upwards and downwards in columns of two, from the right.
    private mutating func draw(_ codewords: [UInt8]) {
        var index = 0
        var right = size - 1
        while right >= 1 {
            if right == 6 { right = 5 }
            for step in 0..<size {
                let isUpward = (right + 1) & 2 == 0
                let row = isUpward ? size - 1 - step : step
                for column in [right, right - 1] where !fixed[row * size + column] && index < codewords.count * 8 {
                    dark[row * size + column] = codewords[index >> 3] >> UInt8(7 - index & 7) & 1 == 1
                    index += 1
                }
            }
            right -= 2
        }
    }

    // MARK: Masks (§7.8)

    private mutating func apply(_ mask: Int) {
        for row in 0..<size {
            for column in 0..<size where !fixed[row * size + column] {
                if Self.isFlipped(mask, column, row) { dark[row * size + column].toggle() }
            }
        }
        drawFormat(mask)
    }

    private static func isFlipped(_ mask: Int, _ x: Int, _ y: Int) -> Bool {
        switch mask {
        case 0: (x + y) % 2 == 0
        case 1: y % 2 == 0
        case 2: x % 3 == 0
        case 3: (x + y) % 3 == 0
        case 4: (x / 3 + y / 2) % 2 == 0
        case 5: x * y % 2 + x * y % 3 == 0
        case 6: (x * y % 2 + x * y % 3) % 2 == 0
        default: ((x + y) % 2 + x * y % 3) % 2 == 0
        }
    }

    /// Long runs, blocks and an uneven share of dark make a code hard to read. Any mask is valid.
    private var penalty: Int {
        var penalty = 0
        for line in 0..<size {
            for isRow in [true, false] {
                var run = 0
                var last: Bool?
                for index in 0..<size {
                    let module = isRow ? isDark(index, line) : isDark(line, index)
                    run = module == last ? run + 1 : 1
                    last = module
                    if run == 5 { penalty += 3 } else if run > 5 { penalty += 1 }
                }
            }
        }
        for row in 0..<(size - 1) {
            for column in 0..<(size - 1) {
                let module = isDark(column, row)
                let isBlock =
                    module == isDark(column + 1, row) && module == isDark(column, row + 1)
                    && module == isDark(column + 1, row + 1)
                if isBlock { penalty += 3 }
            }
        }
        let share = dark.count { $0 } * 100 / dark.count
        return penalty + abs(share - 50) / 5 * 10
    }
}

/// A sequence of bits, the highest first.
private struct Bits {
    private(set) var bytes: [UInt8] = []
    private(set) var count = 0

    mutating func append(_ value: Int, _ length: Int) {
        for shift in stride(from: length - 1, through: 0, by: -1) {
            if count % 8 == 0 { bytes.append(0) }
            bytes[count / 8] |= UInt8(value >> shift & 1) << UInt8(7 - count % 8)
            count += 1
        }
    }
}

/// Over the field of 256 elements in ISO/IEC 18004 §7.5.2.
private enum ReedSolomon {
    static func remainder(of data: [UInt8], degree: Int) -> [UInt8] {
        var divisor = Array(repeating: UInt8(0), count: degree)
        divisor[degree - 1] = 1
        var root: UInt8 = 1
        for _ in 0..<degree {
            for index in 0..<degree {
                divisor[index] = multiply(divisor[index], root)
                if index + 1 < degree { divisor[index] ^= divisor[index + 1] }
            }
            root = multiply(root, 2)
        }
        var rest = Array(repeating: UInt8(0), count: degree)
        for byte in data {
            let factor = byte ^ rest.removeFirst()
            rest.append(0)
            for index in 0..<degree { rest[index] ^= multiply(divisor[index], factor) }
        }
        return rest
    }

    private static func multiply(_ left: UInt8, _ right: UInt8) -> UInt8 {
        var product: UInt16 = 0
        for shift in stride(from: 7, through: 0, by: -1) {
            product = product << 1 ^ (product >> 7) * 0x11D
            if right >> UInt8(shift) & 1 == 1 { product ^= UInt16(left) }
        }
        return UInt8(truncatingIfNeeded: product)
    }
}

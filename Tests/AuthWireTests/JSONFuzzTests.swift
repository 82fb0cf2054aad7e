import AuthWire
import Testing

/// Random, but the same at every run: a seed that fails can be played again.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}

struct JSONFuzzTests {
    static let seeds: [[UInt8]] = [
        #"{"jsonrpc":"2.0","id":7,"method":"token.get","params":{"session":"a"}}"#,
        #"[{"a":[1,-2.5e3,18446744073709551615],"\u00e9\ud83d\ude00":"x\n\"y"},null]"#,
        #"{"k":{"k":{"k":[[[true,false]]]}},"k":"long enough to be more than one word of eight bytes"}"#,
        "\"é€😀 and \\\\ \\/ more\"", "-0.0e-0", "[[[[[[[[]]]]]]]]",
    ].map { Array($0.utf8) }

    static let fragments: [[UInt8]] =
        [
            "\"", "\\", "\\u", "\\ud800", "{", "}", "[", "]", ",", ":", "-", "e", ".", "0", "9999999999", "\0", "\n",
            " ", "null",
        ].map { Array($0.utf8) } + [[0x80], [0xC3], [0xED, 0xA0, 0x80], [0xFF], [0xEF, 0xBB, 0xBF], [0xF0, 0x9F]]

    @Test("no bytes stop the reader, and what it accepts reads back the same", arguments: 0..<8)
    func survivesMutation(part: Int) throws {
        var random = SplitMix(seed: UInt64(part) + 1)
        var accepted = 0
        for _ in 0..<13_000 {
            let bytes = mutated(using: &random)
            // What copies JSON without reading it takes the same texts, and changes nothing in them.
            let compact = try? JSON.compacted(bytes.span)
            guard let value = try? JSON(parsing: bytes) else {
                #expect(compact == nil, "part \(part): \(String(decoding: bytes, as: UTF8.self))")
                continue
            }
            let copied = try JSON(parsing: try #require(compact))
            #expect(copied == value)
            accepted += 1
            let text = value.serialized()
            // A number that rounds to a whole one may be written with a point; its second reading is its own.
            guard try JSON(parsing: text) == value, try JSON(parsing: text).serialized() == text else {
                Issue.record("part \(part): \(String(decoding: bytes, as: UTF8.self))")
                return
            }
        }
        #expect(accepted > 100)
    }

    @Test("no bytes stop the envelope, and each gets an answer", arguments: 0..<2)
    func survivesAsRequest(part: Int) {
        var random = SplitMix(seed: UInt64(part) + 100)
        for _ in 0..<5_000 {
            switch RPCIncoming(line: mutated(using: &random)) {
            case .single(.success(let request)):
                _ = try? AgentMethods.named(request.method)?.init(params: request.params)
            case .single(.failure(let problem)): #expect([-32700, -32600].contains(problem.error.code))
            case .batch(let elements): #expect(!elements.isEmpty)
            }
        }
    }

    @Test("any value reads back as it was written", arguments: 0..<4)
    func roundTrips(part: Int) throws {
        var random = SplitMix(seed: UInt64(part) + 1000)
        for _ in 0..<1_000 {
            let value = Self.value(depth: 0, using: &random)
            #expect(try JSON(parsing: value.serialized()) == value)
            #expect(try JSON(parsing: value.text(pretty: true)) == value)
        }
    }

    private func mutated(using random: inout SplitMix) -> [UInt8] {
        var bytes = Self.seeds[Int(random.next() % UInt64(Self.seeds.count))]
        for _ in 0...(random.next() % 3) {
            let at = Int(random.next() % UInt64(bytes.count + 1))
            switch random.next() % 5 {
            case 0 where at < bytes.count: bytes[at] ^= 1 << UInt8(random.next() % 8)
            case 1 where at < bytes.count: bytes.remove(at: at)
            case 2: bytes.insert(UInt8(truncatingIfNeeded: random.next()), at: at)
            case 3: bytes.insert(contentsOf: Self.fragments[Int(random.next() % UInt64(Self.fragments.count))], at: at)
            default:
                let other = min(bytes.count, at + Int(random.next() % 12))
                if random.next() % 2 == 0 { bytes.removeSubrange(at..<other) } else { bytes += bytes[at..<other] }
            }
        }
        return bytes
    }

    private static func value(depth: Int, using random: inout SplitMix) -> JSON {
        switch random.next() % (depth > 5 ? 6 : 9) {
        case 0: return .null
        case 1: return .bool(random.next() % 2 == 0)
        case 2: return .integer(Int64(truncatingIfNeeded: random.next()) >> Int64(random.next() % 64))
        case 3: return JSON(random.next())
        case 4:
            let value = Double(bitPattern: random.next())
            return .number(value.isFinite ? value : 0.5)
        case 5, 6: return .string(text(using: &random))
        case 7: return .array((0..<(random.next() % 5)).map { _ in value(depth: depth + 1, using: &random) })
        default:
            var object = JSONObject()
            for _ in 0..<(random.next() % (depth == 0 ? 40 : 5)) {
                object[text(using: &random)] = value(depth: depth + 1, using: &random)
            }
            return .object(object)
        }
    }

    private static func text(using random: inout SplitMix) -> String {
        let ranges: [ClosedRange<UInt32>] = [
            0x20...0x7E, 0x20...0x7E, 0x20...0x7E, 0...0x1F, 0x80...0x7FF, 0x800...0xD7FF, 0x10000...0x10FFFF,
        ]
        var text = ""
        for _ in 0..<(random.next() % 20) {
            let scalar = Unicode.Scalar(UInt32.random(in: ranges[Int(random.next() % 7)], using: &random))
            text.unicodeScalars.append(scalar ?? "?")
        }
        return text
    }
}

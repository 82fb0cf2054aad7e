import AuthModel
import Foundation
import Fuzzing
import TestSupport
import Testing

@testable import AuthConfiguration
@testable import AuthProviders

/// The scanner decides which texts the TOML library receives, so both must read a text in the same way. Texts that the scanner
/// refuses are given to another parser, Python's: the library may crash with them.
///
/// `make fuzz-toml SECONDS=600 FIRST=1` tries as many seeds as fit; a disagreement names its seed or shows its text.
@Suite("The key scanner and the TOML library")
struct TOMLFuzzTests {
    /// For `make test`; and the number of texts that Python gets at once.
    private static let seeds: UInt64 = 2000
    /// Texts beyond limits are tested in KeyLinesTests.
    private static let longest = 2048

    @Test("find the same keys in every accepted text, and no valid TOML is refused")
    func agree() async throws {
        let environment = ProcessInfo.processInfo.environment
        let first = environment["FUZZ_FIRST"].flatMap(UInt64.init) ?? 1
        let seconds = environment["FUZZ_SECONDS"].flatMap(Int.init)
        let deadline = seconds.map { ContinuousClock.now + .seconds($0) }
        var (seed, accepted) = (first, 0)
        repeat {
            var refused: [String] = []
            for number in seed..<seed + Self.seeds {
                var random = SeededRandom(seed: number)
                let text = String(TOMLText.random(&random).prefix(Self.longest))
                do throws(KeyScanner.Refusal) {
                    let difference = TOMLComparison.difference(try KeyLines(text), text)
                    if let difference { Issue.record("seed \(number): \(difference)\n\(text.debugDescription)") }
                    accepted += 1
                } catch {
                    // Exceeding one of our limits is not a disagreement.
                    let isLimit = error.expected.contains("at most") || error.expected.contains("NUL")
                    if !isLimit { refused.append(text) }
                }
            }
            for text in try await takenByPython(refused) {
                Issue.record("refused by the scanner alone: \(text.debugDescription)")
            }
            seed += Self.seeds
        } while deadline.map { ContinuousClock.now < $0 } ?? false
        // If nearly all were refused, little would have been compared.
        #expect(accepted > Int(seed - first) / 5)
        if seconds != nil { print("seeds \(first) to \(seed - 1), \(accepted) accepted") }
    }

    @Test("a letter outside of ASCII after the end of a continued line is read as it is")
    func continuedLine() throws {
        #expect(try TOMLTable("a = \"\"\"x \\\n é\"\"\"")["a"]?.string == "x é")
    }

    @Test("an error of the library has its message and its line")
    func libraryError() throws {
        let error = try #require(throws: TOMLError.self) { try TOMLTable("a = 1\na = 2\n") }
        #expect(error.line == 2)
        #expect(error.message.contains("'a'"), "\(error.message)")
    }

    @Test(
        "two keys that Swift takes for one are refused in every table",
        arguments: [
            "\"\u{E9}\" = 1\n\"e\u{301}\" = 2", "[a]\n\"\u{E9}\" = 1\n\"e\u{301}\" = 2",
            "[[a]]\n\"\u{E9}\" = 1\n\"e\u{301}\" = 2", "a = { \"\u{E9}\" = 1, \"e\u{301}\" = 2 }",
            "a = [[{ \"\u{E9}\" = 1, \"e\u{301}\" = 2 }]]",
        ])
    func repeatedKey(text: String) throws {
        let error = try #require(throws: TOMLError.self) { try TOMLTable(text) }
        #expect(error.line == 0)
        #expect(error.message == "the key \u{E9} twice")
    }

    private func takenByPython(_ texts: [String]) async throws -> [String] {
        let script = """
            import json, sys, tomllib
            def is_toml(text):
                try:
                    tomllib.loads(text.removeprefix("\\ufeff"))
                    return True
                except Exception:
                    return False
            print(json.dumps([text for text in json.load(sys.stdin) if is_toml(text)]))
            """
        let input = String(decoding: try JSONEncoder().encode(texts), as: UTF8.self)
        let output = try await Child(
            ["python3", "-c", script], environment: ["PATH": "/usr/bin:/bin"], input: .text(input)
        ).output()
        #expect(output.status == 0, "\(output.err)")
        return try JSONDecoder().decode([String].self, from: Data(output.out.utf8))
    }
}

/// Valid or nearly valid TOML.
private enum TOMLText {
    private static let lineEnds = ["\n", "\n", "\n", "\r\n", " # ] = \"\n", "\n\n"]
    private static let oddKeys = [
        "\"a b\"", "'x.y'", "\"\"", #""\u0061""#, "\"[\"", "-", "1", "'\"'", #""\"""#, "true",
    ]
    private static let plain = [
        "1", "-17", "0x1f", "1_000", "1.5", "-2e9", "inf", "nan", "true", "false", "2026-01-30", "12:30:00",
        "2026-01-30T15:17:41Z", "2026-01-30 15:17:41", "2026-01-30 15:17:41.5+02:00", "\"\"", "''", "\"a\"", "'b'",
        "\"]\"", "\"#\"", "'\"'", #""\"""#, #""\\""#, #""\u00e4\U0001f600""#, #"'\'"#, "\"é\"",
        "\"\"\"\n[a]\n\"\"\"", "\"\"\"x\"\"y\"\"\"\"", "'''it's'''", "'''''a'''''", "\"\"\"a \\\n  b\"\"\"",
        "\"\"\"\"\"\"",
    ]
    private static let marks = Array("[]{}=\"'.,#\\ \t\r\n_-+:a0é\u{FEFF}\u{A0}\u{B}\u{85}\u{2028}".unicodeScalars)

    static func random(_ random: inout SeededRandom) -> String {
        var text = Int.random(in: 0..<20, using: &random) == 0 ? "\u{FEFF}" : ""
        for _ in 0..<Int.random(in: 1...8, using: &random) { text += line(&random) }
        for _ in 0..<one(of: [0, 0, 0, 1, 1, 2, 4], &random) { change(&text, &random) }
        return text
    }

    private static func line(_ random: inout SeededRandom) -> String {
        let end = one(of: lineEnds, &random)
        switch Int.random(in: 0..<10, using: &random) {
        case 0: return "[" + key(&random) + "]" + end
        case 1: return "[[" + key(&random) + "]]" + end
        case 2: return "# [x] = {" + end
        default: return key(&random) + one(of: [" = ", "=", "\t= "], &random) + value(&random, 0) + end
        }
    }

    private static func key(_ random: inout SeededRandom) -> String {
        var parts: [String] = []
        for _ in 0..<one(of: [1, 1, 1, 1, 2, 3], &random) {
            let isOdd = Int.random(in: 0..<4, using: &random) == 0
            let usual = one(of: ["a", "b", "c", "d", "e"], &random) + String(Int.random(in: 0..<9, using: &random))
            parts.append(isOdd ? one(of: oddKeys, &random) : usual)
        }
        return parts.joined(separator: one(of: [".", ".", " . "], &random))
    }

    private static func value(_ random: inout SeededRandom, _ depth: Int) -> String {
        guard depth < 4 else { return one(of: plain, &random) }
        var parts: [String] = []
        switch Int.random(in: 0..<8, using: &random) {
        case 0:
            let gap = one(of: ["", " ", "\n", " # ,\n"], &random)
            for _ in 0..<Int.random(in: 0..<4, using: &random) { parts.append(gap + value(&random, depth + 1)) }
            let comma = !parts.isEmpty && Bool.random(using: &random) ? gap + "," : ""
            return "[" + parts.joined(separator: gap + ",") + comma + gap + "]"
        case 1:
            for _ in 0..<Int.random(in: 0..<4, using: &random) {
                parts.append(key(&random) + " = " + value(&random, depth + 1))
            }
            return "{ " + parts.joined(separator: ", ") + " }"
        default: return one(of: plain, &random)
        }
    }

    /// Removes, replaces, doubles or cuts off a part of it.
    private static func change(_ text: inout String, _ random: inout SeededRandom) {
        var scalars = Array(text.unicodeScalars)
        guard !scalars.isEmpty else { return }
        let place = Int.random(in: 0..<scalars.count, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: scalars.remove(at: place)
        case 1: scalars[place] = one(of: marks, &random)
        case 2:
            let end = min(scalars.count, place + Int.random(in: 1...12, using: &random))
            let part = Array(scalars[place..<end])
            scalars.insert(contentsOf: part, at: Int.random(in: 0...scalars.count, using: &random))
        case 3: scalars.removeLast(scalars.count - place)
        default: scalars.insert(one(of: marks, &random), at: place)
        }
        text = ""
        text.unicodeScalars.append(contentsOf: scalars)
    }

    private static func one<Element>(of list: [Element], _ random: inout SeededRandom) -> Element {
        list[Int.random(in: 0..<list.count, using: &random)]
    }
}

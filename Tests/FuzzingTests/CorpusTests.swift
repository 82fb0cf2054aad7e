import AuthModel
import Fuzzing
import Testing

/// Without sanitizers, and with few changes: `make fuzz` finds more (Docs/decisions/fuzzing.md).
@Suite("Bytes of clients, providers and files", .timeLimit(.minutes(5)))
struct CorpusTests {
    /// For each target, in a second or two.
    private static let changes = 1000
    /// The kept inputs of all targets, in bytes.
    private static let largest = 300 << 10

    @Test("every kept input keeps the promises of its target", arguments: FuzzTarget.all)
    func kept(target: FuzzTarget) throws {
        let inputs = try Corpus.inputs(of: target.name)
        #expect(inputs.count >= 3)
        for (name, bytes) in inputs {
            #expect(bytes.count <= target.longest, "\(name)")
            #expect(throws: Never.self, "\(target)/\(name)") { try target.run(bytes) }
        }
    }

    @Test("so do inputs that differ from them", arguments: FuzzTarget.all)
    func changed(target: FuzzTarget) throws {
        var mutation = Mutation(seed: 1, of: try Corpus.inputs(of: target.name).map(\.bytes))
        for number in 1...Self.changes {
            let bytes = mutation.next(longest: target.longest)
            do throws(Violation) {
                try target.run(bytes)
            } catch {
                Issue.record(
                    "\(target), change \(number): \(error)\n\(String(decoding: bytes, as: UTF8.self).debugDescription)")
                return
            }
        }
    }

    @Test("the kept inputs are few, and each belongs to a target")
    func size() throws {
        var sum = 0
        for target in FuzzTarget.all {
            sum += try Corpus.inputs(of: target.name).reduce(0) { $0 + $1.bytes.count }
        }
        #expect(sum <= Self.largest, "\(sum) bytes")
        #expect(Set(try Corpus.folders()) == Set(FuzzTarget.all.map(\.name)))
    }

    @Test("a broken promise is noticed, and changes reach what is near an input")
    func planted() throws {
        let target = FuzzTarget("planted", longest: 64) { bytes throws(Violation) in
            if bytes.starts(with: Array("{\"depth\":".utf8)), bytes.contains(UInt8(ascii: "9")) {
                throw Violation("nine")
            }
        }
        var mutation = Mutation(seed: 1, of: [Array("{\"depth\":1}".utf8)])
        let found = (1...Self.changes).contains { _ in (try? target.run(mutation.next(longest: 64))) == nil }
        #expect(found)
        var (one, other) = (Mutation(seed: 7, of: [[1, 2, 3]]), Mutation(seed: 7, of: [[1, 2, 3]]))
        for _ in 1...100 { #expect(one.next(longest: 8) == other.next(longest: 8)) }
    }
}

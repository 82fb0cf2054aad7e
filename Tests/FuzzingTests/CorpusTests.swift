import AuthConcurrency
import AuthModel
import AuthWire
import Fuzzing
import Testing

/// Without sanitizers, and with few changes: `make fuzz` finds more (Docs/decisions/fuzzing.md).
@Suite("Bytes of clients, providers and files", .timeLimit(.minutes(5)))
struct CorpusTests {
    /// The kept inputs of all targets, in bytes.
    private static let largest = 300 << 10

    @Test("every kept input keeps the promises of its target", arguments: FuzzTarget.all)
    func kept(target: FuzzTarget) async throws {
        let inputs = try Corpus.inputs(of: target.name)
        #expect(inputs.count >= 3)
        for (name, bytes) in inputs { #expect(bytes.count <= target.longest, "\(name)") }
        let broken = await Self.onThread { inputs.compactMap { Self.violation(of: target, by: $0.bytes, $0.name) } }
        #expect(broken.isEmpty, "\(broken.joined(separator: "\n"))")
    }

    @Test("so do inputs that differ from them", arguments: FuzzTarget.all)
    func changed(target: FuzzTarget) async throws {
        let inputs = try Corpus.inputs(of: target.name).map(\.bytes)
        let broken = await Self.onThread { () -> String? in
            var mutation = Mutation(seed: 1, of: inputs)
            for number in 1...target.changes {
                let bytes = mutation.next(longest: target.longest)
                if let violation = Self.violation(of: target, by: bytes, "change \(number)") { return violation }
            }
            return nil
        }
        #expect(broken == nil)
    }

    /// A target may wait for tasks: they have the threads of Swift's pool for themselves.
    private static func onThread<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await BlockingThread().complete(work)
    }

    private static func violation(of target: FuzzTarget, by bytes: [UInt8], _ name: String) -> String? {
        do throws(Violation) {
            try target.run(bytes)
            return nil
        } catch {
            return "\(target), \(name): \(error)\n\(String(decoding: bytes, as: UTF8.self).debugDescription)"
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

    @Test("valid requests in the corpus have the params that their methods read", arguments: ["rpc", "dispatch"])
    func params(target: String) throws {
        for (name, bytes) in try Corpus.inputs(of: target) {
            for line in bytes.split(separator: UInt8(ascii: "\n")) {
                let requests: [Result<RPCRequest, RPCProblem>] =
                    switch RPCIncoming(line: Array(line)) {
                    case .single(let request): [request]
                    case .batch(let requests): requests
                    }
                // The corpus has invalid requests on purpose.
                for request in requests.compactMap({ try? $0.get() }) {
                    guard let method = AgentMethods.named(request.method) else { continue }
                    #expect(throws: Never.self, "\(target)/\(name)") {
                        _ = try method.init(params: request.params)
                    }
                }
            }
        }
    }

    @Test("a broken promise is noticed, and changes reach what is near an input")
    func planted() throws {
        let target = FuzzTarget("planted", longest: 64) { bytes throws(Violation) in
            if bytes.starts(with: Array("{\"depth\":".utf8)), bytes.contains(UInt8(ascii: "9")) {
                throw Violation("nine")
            }
        }
        var mutation = Mutation(seed: 1, of: [Array("{\"depth\":1}".utf8)])
        let found = (1...target.changes).contains { _ in (try? target.run(mutation.next(longest: 64))) == nil }
        #expect(found)
        var (one, other) = (Mutation(seed: 7, of: [[1, 2, 3]]), Mutation(seed: 7, of: [[1, 2, 3]]))
        for _ in 1...100 { #expect(one.next(longest: 8) == other.next(longest: 8)) }
    }
}

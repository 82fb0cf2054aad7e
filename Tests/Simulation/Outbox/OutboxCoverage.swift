/// How much of the outbox was played.
package struct OutboxCoverage: Sendable {
    package internal(set) var writes = 0
    package internal(set) var sendings = 0
    /// Writes that a provider carried out twice: its answer was lost, or the process died before it was written down.
    package internal(set) var repeated = 0
    package internal(set) var deaths = 0
    private(set) var published: [String: Int] = [:]

    mutating func count(_ name: String) { published[name, default: 0] += 1 }

    package mutating func add(_ other: OutboxCoverage) {
        writes += other.writes
        sendings += other.sendings
        repeated += other.repeated
        deaths += other.deaths
        published.merge(other.published, uniquingKeysWith: +)
    }

    var words: String {
        let ends = published.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        return "Writes: \(writes) (\(ends)), sent \(sendings) times, \(repeated) done twice, \(deaths) deaths"
    }
}

/// How much of the sign-ins was played.
package struct SignInCoverage: Sendable {
    /// How sign-ins ended: `done`, or the kind of the error.
    package internal(set) var ends: [String: Int] = [:]
    package internal(set) var grants = 0
    package internal(set) var installed = 0
    package internal(set) var revoked = 0
    package internal(set) var deaths = 0

    package mutating func add(_ other: SignInCoverage) {
        ends.merge(other.ends, uniquingKeysWith: +)
        grants += other.grants
        installed += other.installed
        revoked += other.revoked
        deaths += other.deaths
    }

    var words: String {
        let ends = ends.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        return "Sign-ins: \(ends); grants: \(grants), \(installed) installed, \(revoked) revoked; \(deaths) deaths"
    }
}

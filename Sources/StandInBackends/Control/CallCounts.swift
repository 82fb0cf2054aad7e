/// The number of calls by method and path. A call is counted when it arrives.
package struct CallCounts: Sendable, Equatable {
    private var counts: [Backend: [String: Int]] = [:]

    package init() {}

    mutating func note(_ backend: Backend, _ method: String, _ path: String) {
        counts[backend, default: [:]]["\(method) \(path)", default: 0] += 1
    }

    mutating func clear(_ backend: Backend) {
        counts[backend] = nil
    }

    /// - Parameter call: method and path, such as `POST /auth/refresh`.
    package subscript(_ backend: Backend, _ call: String) -> Int {
        counts[backend]?[call] ?? 0
    }

    package subscript(_ backend: Backend) -> Int {
        counts[backend]?.values.reduce(0, +) ?? 0
    }

    var json: JSONValue {
        .object(
            Dictionary(
                uniqueKeysWithValues: Backend.allCases.map { backend in
                    (backend.rawValue, .object((counts[backend] ?? [:]).mapValues { .integer($0) }))
                }))
    }
}

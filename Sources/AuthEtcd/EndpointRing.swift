/// Which member of etcd is used: the same one until it fails, and then the next one.
struct EndpointRing: Sendable, Equatable {
    /// `https://HOST:PORT`, without a path.
    let endpoints: [String]
    private var place = 0

    init(_ endpoints: [String]) {
        self.endpoints = endpoints
    }

    /// `nil` if there is none.
    var current: String? { endpoints.isEmpty ? nil : endpoints[place] }

    /// Requests in flight may report the same failure: only the first one moves on.
    mutating func failed(_ endpoint: String) {
        guard endpoint == current else { return }
        place = (place + 1) % endpoints.count
    }
}

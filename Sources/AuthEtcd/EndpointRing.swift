/// Which member of etcd is used: the same one until it fails, and then the next one.
struct EndpointRing: Sendable, Equatable {
    /// `https://HOST:PORT`, without a path.
    let endpoints: [String]
    /// The one that is used first.
    private var first = 0
    private var place = 0

    init(_ endpoints: [String]) {
        self.endpoints = endpoints
    }

    /// `nil` if there is none.
    var current: String? { endpoints.isEmpty ? nil : endpoints[place] }

    /// The one that is used first, while another one is used.
    var left: String? { place == first ? nil : endpoints[first] }

    /// Requests in flight may report the same failure: only the first one moves on.
    mutating func failed(_ endpoint: String) {
        guard endpoint == current else { return }
        place = (place + 1) % endpoints.count
    }

    /// Chooses the endpoint that is used first. It is used at once, unless a failure has moved the ring to another one.
    /// - Parameter choice: any number; the remainder of its division by the number of endpoints is the index.
    mutating func prefer(_ choice: UInt64) {
        guard !endpoints.isEmpty else { return }
        let usesFirst = place == first
        first = Int(choice % UInt64(endpoints.count))
        if usesFirst { place = first }
    }

    /// It responds again.
    mutating func goBack() { place = first }

    /// A stable number for an endpoint, so that the hosts and users of one cluster use all members: FNV-1a of the text,
    /// mixed as in SplitMix64, because the remainder of FNV-1a alone depends on few bits of similar texts.
    static func choice(of text: String) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        hash = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
        hash = (hash ^ (hash >> 27)) &* 0x94D0_49BB_1331_11EB
        return hash ^ (hash >> 31)
    }
}

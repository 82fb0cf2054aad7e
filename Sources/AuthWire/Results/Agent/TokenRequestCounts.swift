/// The requests for tokens to one provider since the agent's start: renewals, and tokens for a scope or an audience.
public struct TokenRequestCounts: WireObject {
    /// The upper bounds of ``within``, in milliseconds.
    package static let bounds = [50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000]

    public var provider = ""
    public var succeeded = 0
    /// How many failed, by cause.
    public var failed: [String: Int] = [:]
    /// How many took at most so many milliseconds; the longest ones are only in the sums.
    public var within: [String: Int] = [:]
    /// All of them together.
    public var duration = Duration.zero

    public init(blank: Blank) {}
    package init(provider: String) {
        self.provider = provider
        for bound in Self.bounds { within["\(bound)"] = 0 }
    }

    public var total: Int { failed.values.reduce(succeeded, +) }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("provider", &provider, .string)
        try visitor.required("succeeded", &succeeded, .count)
        try visitor.written("failed", &failed, .countsByName)
        try visitor.written("within", &within, .countsByName)
        try visitor.required("took_ms", &duration, .length)
    }
}

import AuthModel
import AuthWire

/// What a host was about to send when it took a session: the next holder then knows that these tokens may be used up.
struct RenewalIntent: Sendable, Equatable {
    let host: String
    /// Of the tokens.
    let generation: UInt64
    /// The request has ended, and what the provider did is unknown.
    let isUnanswered: Bool

    init(host: String, generation: UInt64, isUnanswered: Bool = false) {
        self.host = host
        self.generation = generation
        self.isUnanswered = isUnanswered
    }

    /// `nil` if the bytes are not an intent.
    init?(_ bytes: [UInt8]) {
        guard let json = try? JSON(parsing: bytes), let host = json["host"]?.stringValue,
            let generation = json["generation"]?.integerValue.flatMap({ UInt64(exactly: $0) })
        else { return nil }
        self.init(host: host, generation: generation, isUnanswered: json["unanswered"]?.boolValue ?? false)
    }

    var bytes: [UInt8] {
        JSON.object([
            "host": .string(host), "generation": JSON(generation), "unanswered": .bool(isUnanswered),
        ]).serialized()
    }
}

import AuthModel
import AuthWire

/// What a host was about to send when it held a session: the next holder then knows that these tokens may be used up.
struct RenewalIntent: Sendable, Equatable {
    let signIn: SignInID
    /// The generation of the tokens.
    let generation: UInt64
    /// Chosen by its author. Hosts with a former version of authd write none.
    let id: String
    /// The request has ended, and what the provider did is unknown.
    let isUnanswered: Bool

    /// - Parameter version: of the record whose tokens will be sent.
    init(_ version: RecordVersion, id: String, isUnanswered: Bool = false) {
        (signIn, generation) = (version.signIn, version.generation)
        self.id = id
        self.isUnanswered = isUnanswered
    }

    /// `nil` if the bytes are not an intent.
    init?(_ bytes: [UInt8]) {
        guard let json = try? JSON(parsing: bytes, values: EtcdLimits.jsonValues),
            let signIn = json["sign_in"]?.stringValue.flatMap({ SignInID($0) }),
            let generation = json["generation"]?.integerValue.flatMap({ UInt64(exactly: $0) })
        else { return nil }
        self.signIn = signIn
        self.generation = generation
        id = json["id"]?.stringValue ?? ""
        isUnanswered = json["unanswered"]?.boolValue ?? false
    }

    var bytes: [UInt8] {
        JSON.object([
            "sign_in": .string(signIn.text), "generation": JSON(generation), "id": .string(id),
            "unanswered": .bool(isUnanswered),
        ]).serialized()
    }

    /// How the hold that left this intent ended, for a host that is about to send the record's tokens.
    func formerHold(of record: SessionRecord?, known: OwnIntents) -> HoldOutcome.FormerHold {
        guard let record, signIn == record.signIn else { return .answered }
        let end = known.formerHold(leaving: id) ?? (isUnanswered ? .unanswered : .abandoned)
        // If another host has written later tokens meanwhile, an unanswered request for the former ones no longer
        // matters, but an abandoned one may still be in progress.
        return end == .unanswered && generation < record.generation ? .answered : end
    }
}

/// The JSON of a misbehaviour at the control endpoint.
extension Misbehaviour {
    init(_ fields: Fields) throws(Refusal) {
        let behaviour = try fields.object(
            "behaviour", [],
            optional: [
                "delay_ms", "status", "retry_after", "body", "html", "cut", "slow_body_ms_per_byte",
                "date_offset_seconds", "revoke_tokens", "lost_answer", "late_answer_ms", "headers",
            ])
        self.init(
            path: try fields.optionalText("path"), method: try fields.optionalText("method"),
            times: try fields.optionalInteger("times"), try Behaviour(behaviour))
    }
}

extension Behaviour {
    fileprivate init(_ fields: Fields) throws(Refusal) {
        self.init()
        delay = try fields.optionalNumber("delay_ms").map { .milliseconds($0) }
        status = try fields.optionalInteger("status")
        guard status.map({ (200...599).contains($0) }) ?? true else {
            throw .badRequest("status must be from 200 to 599")
        }
        retryAfter = try fields.optionalText("retry_after")
        body = fields.members["body"]
        html = try fields.optionalBool("html")
        if let place = try fields.optionalText("cut") {
            guard let known = Cut(rawValue: place) else {
                throw .badRequest("cut must be before-answer or mid-body")
            }
            cut = known
        }
        slowBody = try fields.optionalNumber("slow_body_ms_per_byte").map { .milliseconds($0) }
        dateOffset = try fields.optionalNumber("date_offset_seconds").map { .seconds($0) }
        revokeTokens = try fields.optionalBool("revoke_tokens")
        lateResponse = try fields.optionalNumber("late_answer_ms").map { .milliseconds($0) }
        lostAnswer = try fields.optionalBool("lost_answer")
        if case .object(let members)? = fields.members["headers"] {
            headers = members.compactMapValues(\.string)
        }
    }
}

extension Fields {
    func optionalInteger(_ key: String) throws(Refusal) -> Int? {
        guard let value = members[key], value != .null else { return nil }
        guard let number = value.integer else { throw .badRequest("\(key) must be a whole number") }
        return number
    }

    /// At most a year in milliseconds, positive or negative, so that sums of dates cannot overflow.
    func optionalNumber(_ key: String) throws(Refusal) -> Double? {
        guard let value = members[key], value != .null else { return nil }
        guard let number = value.double, abs(number) <= 32e9 else { throw .badRequest("\(key) must be a number") }
        return number
    }

    func optionalBool(_ key: String) throws(Refusal) -> Bool {
        guard let value = members[key], value != .null else { return false }
        guard let flag = value.bool else { throw .badRequest("\(key) must be true or false") }
        return flag
    }
}

import AuthWire

/// The fields of stored objects that the protocol does not have.
extension Field where Value == Secret {
    static let secret = Field(
        .string, "a string", read: { $0.stringValue.map { Secret($0) } }, write: { .string($0.reveal()) })
}

extension Field where Value == [String: Secret] {
    static let secrets = byName("an object whose values are strings", of: .secret)
}

extension WallTime {
    /// Some 30,000 years before and after 1970. Differences of dates like these are durations, which end at 64 bits of seconds.
    private static let storable = -1e12...1e12

    /// `nil` for a number that the agent never writes as a date.
    init?(stored seconds: Double) {
        guard Self.storable.contains(seconds) else { return nil }
        self.init(unixSeconds: seconds)
    }
}

extension Field where Value == WallTime {
    static let date = Field(
        .number, "a date in Unix seconds", read: { $0.doubleValue.flatMap(WallTime.init(stored:)) },
        write: { .number($0.unixSeconds) })
}

extension Field where Value == UInt64 {
    /// Below 2^60: no session is written so often, and sums of such numbers stay whole numbers.
    static let revision = Field(
        .integer, "a whole number below 2^60",
        read: { json in json.integerValue.flatMap { (0..<(1 << 60)).contains($0) ? UInt64($0) : nil } },
        write: { JSON($0) })
}

extension Field where Value == SignInID {
    static let signIn = Field(
        .string, "the ID of a sign-in", read: { $0.stringValue.flatMap(SignInID.init) }, write: { .string($0.text) })
}

extension Field where Value == TokenOrigins {
    static let origins = Field(.object, "origins", read: { TokenOrigins(stored: $0) }, write: { $0.json })
}

extension Field where Value == CookieJar {
    static let cookies = Field(.array, "cookies", read: { CookieJar(stored: $0) }, write: { $0.json })
}

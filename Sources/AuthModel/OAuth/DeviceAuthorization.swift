package import AuthWire

/// The response that starts a device grant (RFC 8628 §3.2).
package struct DeviceAuthorization: Sendable, Equatable {
    package let code: Secret
    package let userCode: String
    package let verificationURI: String
    /// Includes the code, for a QR code.
    package let completeURI: String?
    package let lifetime: Duration
    package let interval: Duration

    /// If the server does not say (§3.2, §3.5).
    private static let usualInterval = Duration.seconds(5)
    /// A shorter interval is raised to the minimum. A longer one is cut to a minute, the longest that a user waits.
    private static let intervals = 1.0...60.0
    /// §3.2 requires a lifetime. A day is longer than any user waits.
    private static let lifetimes = 1.0...86_400.0
    /// The user types it.
    private static let longestCode = 64

    /// - Throws: what is missing.
    package init(_ json: JSON) throws(MetadataError) {
        guard let code = json["device_code"]?.stringValue, !code.isEmpty, code.utf8.count <= 32 << 10 else {
            throw MetadataError(reason: "it has no device code")
        }
        guard let userCode = json["user_code"]?.stringValue.flatMap(ProviderText.clean),
            userCode.count <= Self.longestCode
        else { throw MetadataError(reason: "it has no user code") }
        // Google's first spelling is still in use.
        guard let uri = Self.address(json["verification_uri"] ?? json["verification_url"]) else {
            throw MetadataError(reason: "it has no verification address")
        }
        self.code = Secret(code)
        self.userCode = userCode
        verificationURI = uri
        completeURI = Self.address(json["verification_uri_complete"])
        lifetime = .seconds(Self.number(json["expires_in"], in: Self.lifetimes) ?? 600)
        interval = Self.number(json["interval"], in: Self.intervals).map { .seconds($0) } ?? Self.usualInterval
    }

    /// For another agent, which polls with it.
    package var json: JSON {
        var object: JSONObject = [
            "device_code": .string(code.reveal()), "user_code": .string(userCode),
            "verification_uri": .string(verificationURI), "expires_in": .number(lifetime.seconds),
            "interval": .number(interval.seconds),
        ]
        object["verification_uri_complete"] = completeURI.map(JSON.string)
        return .object(object)
    }

    /// The address is for the user's browser: only http and https, and no characters that a terminal would interpret.
    private static func address(_ value: JSON?) -> String? {
        guard let text = value?.stringValue, text.utf8.count <= 2048,
            text.utf8.allSatisfy(\.isVisible), Origin(of: text) != nil
        else { return nil }
        return text
    }

    private static func number(_ value: JSON?, in range: ClosedRange<Double>) -> Double? {
        value.flatMap(TokenLifetimeDecoder.number).map { min(max($0, range.lowerBound), range.upperBound) }
    }
}

package import AuthWire

/// What a person needs for the device grant, and what we poll with (RFC 8628 §3.2).
package struct DeviceAuthorization: Sendable, Equatable {
    package let code: Secret
    package let userCode: String
    package let verificationURI: String
    /// With the code in it, for a QR code.
    package let completeURI: String?
    package let lifetime: Duration
    package let interval: Duration

    /// §3.2 and §3.5, where the server says nothing.
    private static let usualInterval = Duration.seconds(5)
    /// A server that asks for less is asked no more often; one that asks for more than anybody waits is not believed.
    private static let intervals = 1.0...60.0
    /// §3.2 demands a lifetime; longer than a day nobody waits.
    private static let lifetimes = 1.0...86_400.0
    /// A person types it.
    private static let longestCode = 64

    /// - Throws: what is missing, in words.
    package init(_ json: JSON) throws(MetadataError) {
        guard let code = json["device_code"]?.stringValue, !code.isEmpty, code.utf8.count <= 32 << 10 else {
            throw MetadataError(reason: "it holds no device code")
        }
        guard let userCode = json["user_code"]?.stringValue.flatMap(ProviderText.clean),
            userCode.count <= Self.longestCode
        else { throw MetadataError(reason: "it holds no code to type") }
        // Google's first spelling is still about.
        guard let uri = Self.address(json["verification_uri"] ?? json["verification_url"]) else {
            throw MetadataError(reason: "it holds no address to open")
        }
        self.code = Secret(code)
        self.userCode = userCode
        verificationURI = uri
        completeURI = Self.address(json["verification_uri_complete"])
        lifetime = .seconds(Self.number(json["expires_in"], in: Self.lifetimes) ?? 600)
        interval = Self.number(json["interval"], in: Self.intervals).map { .seconds($0) } ?? Self.usualInterval
    }

    /// For a person's browser: nothing but http and https, and nothing that a terminal would act on.
    private static func address(_ value: JSON?) -> String? {
        guard let text = value?.stringValue, text.utf8.count <= 2048,
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), ProviderOrigin(of: text) != nil
        else { return nil }
        return text
    }

    private static func number(_ value: JSON?, in range: ClosedRange<Double>) -> Double? {
        guard let number = value?.doubleValue ?? value?.stringValue.flatMap({ Double($0) }), number.isFinite else {
            return nil
        }
        return min(max(number, range.lowerBound), range.upperBound)
    }
}

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

/// When the token endpoint is asked again, and what its answers mean (RFC 8628 §3.5).
package struct DevicePoll: Sendable {
    package enum Outcome: Sendable {
        /// At ``DevicePoll/nextAt``.
        case again
        case granted(Grant)
        case ended(AgentError)
    }

    /// How much slower each `slow_down` makes us (§3.5).
    private static let slowing = Duration.seconds(5)
    /// However often it says so: a person waits at the other end.
    private static let slowest = Duration.seconds(120)

    package private(set) var nextAt: BootInstant
    package let endsAt: BootInstant
    private var interval: Duration

    package init(_ device: DeviceAuthorization, from start: BootInstant) {
        interval = device.interval
        nextAt = start + device.interval
        endsAt = start + device.lifetime
    }

    /// When there is something to do: to ask again, or to give up.
    package var wakeAt: BootInstant { min(nextAt, endsAt) }

    /// Why nobody is asked any more; `nil`: the code may still be given.
    package func end(at now: BootInstant) -> AgentError? {
        now >= endsAt && now < nextAt ? .deviceCodeEnded : nil
    }

    package mutating func take(_ answer: Result<Grant, ProviderFailure>, at now: BootInstant) -> Outcome {
        switch answer {
        case .success(let grant): return .granted(grant)
        case .failure(let failure):
            let error = failure.error
            switch error.cause {
            case "authorization_pending": break
            case "slow_down": interval = min(interval + Self.slowing, Self.slowest)
            case "access_denied":
                return .ended(AgentError(.denied, "The sign-in was refused on the other device.", cause: error.cause))
            case "expired_token": return .ended(.deviceCodeEnded)
            // A token that we cannot use came of the code, which is good for one.
            case "token_type": return .ended(error)
            default:
                guard case .temporary(_, let retryAfter) = failure else { return .ended(error) }
                // Exponentially, as §3.5 wants it after a connection that timed out.
                interval = min(max(interval * 2, retryAfter ?? .zero), Self.slowest)
            }
            nextAt = now + interval
            return now < endsAt ? .again : .ended(.deviceCodeEnded)
        }
    }
}

extension AgentError {
    fileprivate static let deviceCodeEnded = AgentError(
        .timeout, "The code has ended before anybody gave it: begin the sign-in anew.", cause: "expired_token")
}

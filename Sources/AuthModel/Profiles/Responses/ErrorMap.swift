package import AuthWire

/// Where an error body contains its message. A body that is a plain string is its own message.
package struct ErrorMap: Sendable, Equatable {
    /// In the order in which they are tried.
    package var message: [JSONPointer]
    package var code: JSONPointer?
    /// The meaning of the provider's own codes, or of its messages (in any case), if the status does not say it.
    package var kinds: [String: ErrorKind]
    /// A list of messages, such as one for each field.
    package var details: JSONPointer?
    /// Tells an error from a success in a response of 2xx (backend B).
    package var envelope: Envelope?

    /// The kinds that a code can be mapped to. `sign_in_required` means that the access token is not accepted, as with a 401.
    package static let codeKinds: [ErrorKind] = [
        .conflict, .forbidden, .notFound, .providerError, .rateLimited, .refused, .signInRequired, .timeout, .tooLarge,
        .validation,
    ]

    package struct Envelope: Sendable, Equatable {
        package var pointer: JSONPointer
        /// The member's value in a success; `nil`: a success has no such member, or an empty one.
        package var success: JSON?
        /// The HTTP status inside the envelope.
        package var status: JSONPointer?

        package init(pointer: JSONPointer, success: JSON?, status: JSONPointer? = nil) {
            self.pointer = pointer
            self.success = success
            self.status = status
        }

        enum Verdict {
            case success, failure
            /// The response does not say what it is.
            case absent
        }

        /// What a response of 2xx says of itself.
        func verdict(_ body: ResponseBody) -> Verdict {
            guard let found = body.json.flatMap(pointer.find) else {
                if case .empty = body { return .success }
                return success == nil ? .success : .absent
            }
            guard let success else { return Self.saysNothing(found) ? .success : .failure }
            let isEqual = found == success || (found.doubleValue != nil && found.doubleValue == success.doubleValue)
            return isEqual ? .success : .failure
        }

        /// Whether a member that only errors have is present without a value.
        private static func saysNothing(_ value: JSON) -> Bool {
            switch value {
            case .null, .bool(false): true
            case .string(let text): text.isEmpty
            case .array(let elements): elements.isEmpty
            case .object(let object): object.isEmpty
            default: false
            }
        }
    }

    /// The kind of an error with these words, if the profile maps them.
    func kind(code: String?, messages: [String]) -> ErrorKind? {
        if let kind = code.flatMap({ kinds[$0] }) { return kind }
        let texts = Set(messages.map { $0.lowercased() })
        return kinds.sorted { $0.key < $1.key }.first { texts.contains($0.key.lowercased()) }?.value
    }

    package init(
        message: [JSONPointer] = [], code: JSONPointer? = nil, kinds: [String: ErrorKind] = [:],
        details: JSONPointer? = nil, envelope: Envelope? = nil
    ) {
        self.message = message
        self.code = code
        self.kinds = kinds
        self.details = details
        self.envelope = envelope
    }
}

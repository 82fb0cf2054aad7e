package import AuthWire

/// Where an error body keeps its words. A body that is a plain string is its own message.
package struct ErrorMap: Sendable, Equatable {
    /// Tried in this order.
    package var message: [JSONPointer]
    package var code: JSONPointer?
    /// What the provider's own codes mean, where its status does not say so.
    package var kinds: [String: ErrorKind]
    /// A list of messages, for a person to read one by one.
    package var details: JSONPointer?
    /// In an answer of 2xx: an error unless this member has this value (backend B).
    package var envelope: Envelope?

    /// The kinds that a code can be given. `sign_in_required` says that the access token is not accepted, as a 401 does.
    package static let codeKinds: [ErrorKind] = [
        .conflict, .forbidden, .notFound, .providerError, .rateLimited, .refused, .signInRequired, .timeout, .tooLarge,
        .validation,
    ]

    package struct Envelope: Sendable, Equatable {
        package var pointer: JSONPointer
        package var success: JSON
        /// Where the envelope keeps the HTTP status it means.
        package var status: JSONPointer?

        package init(pointer: JSONPointer, success: JSON, status: JSONPointer? = nil) {
            self.pointer = pointer
            self.success = success
            self.status = status
        }
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

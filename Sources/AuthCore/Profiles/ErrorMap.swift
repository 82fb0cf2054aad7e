package import AuthWire

/// Where an error body keeps its words. A body that is a plain string is its own message.
package struct ErrorMap: Sendable, Equatable {
    /// Tried in this order.
    package var message: [JSONPointer]
    package var code: JSONPointer?
    /// A list of messages, for a person to read one by one.
    package var details: JSONPointer?
    /// In an answer of 2xx: an error unless this member has this value (backend B).
    package var envelope: Envelope?

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
        message: [JSONPointer] = [], code: JSONPointer? = nil, details: JSONPointer? = nil, envelope: Envelope? = nil
    ) {
        self.message = message
        self.code = code
        self.details = details
        self.envelope = envelope
    }
}

/// The result of `session.export`: sealed with the passphrase, or plain if none was given.
public struct ExportResult: WireObject {
    public var bytes: [UInt8] = []
    public var sessions: [SessionName] = []

    public init(blank: Blank) {}
    public init(bytes: [UInt8], sessions: [SessionName]) {
        self.bytes = bytes
        self.sessions = sessions
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("parcel_base64", &bytes, .base64)
        try visitor.required("sessions", &sessions, .sessionNames)
    }
}

/// The result of `session.import`.
public struct ImportResult: WireObject {
    public var sessions: [SessionName] = []

    public init(blank: Blank) {}
    public init(sessions: [SessionName]) { self.sessions = sessions }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("sessions", &sessions, .sessionNames)
    }
}

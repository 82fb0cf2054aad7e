/// Of `session.export`: sealed, and of no use without its passphrase; or as it is, where none was given.
public struct ExportResult: Sendable, Equatable {
    public var bytes: [UInt8]
    public var sessions: [SessionName]

    public init(bytes: [UInt8], sessions: [SessionName]) {
        self.bytes = bytes
        self.sessions = sessions
    }

    public init(_ json: JSON) throws(AgentError) {
        let members = try Members(result: json)
        bytes = try members.required("parcel_base64", .base64)
        sessions = try members.required("sessions", .sessionNames)
    }

    public var json: JSON {
        ["parcel_base64": .string(Base64.encode(bytes)), "sessions": .strings(sessions.map(\.text))]
    }
}

/// Of `session.import`.
public struct ImportResult: Sendable, Equatable {
    public var sessions: [SessionName]

    public init(sessions: [SessionName]) {
        self.sessions = sessions
    }

    public init(_ json: JSON) throws(AgentError) {
        sessions = try Members(result: json).required("sessions", .sessionNames)
    }

    public var json: JSON { ["sessions": .strings(sessions.map(\.text))] }
}

extension Wanted where Value == [SessionName] {
    static let sessionNames = Wanted("a list of session names") { json in
        guard let texts = json.arrayValue?.map(\.stringValue) else { return nil }
        let names = texts.compactMap { $0.flatMap { try? SessionName($0) } }
        return names.count == texts.count ? names : nil
    }
}

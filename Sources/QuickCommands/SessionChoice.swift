import CStart

/// The member of the params that names the session of a request.
enum SessionChoice {
    /// The session of `-s` or `AUTHD_SESSION`. Empty without either; `nil` if the text is not the name of a session.
    static func named(_ option: Text?) -> ByteString? {
        var params = ByteString()
        guard let session = option ?? Text(environment: "AUTHD_SESSION") else { return params }
        guard session.isSessionName else { return nil }
        params.append(member: "session", session)
        return params
    }

    /// The same, but also `nil` if neither is given and the settings may name a session for the current folder.
    static func chosen(_ option: Text?, in folder: AgentFolder) -> ByteString? {
        guard let params = named(option) else { return nil }
        guard params.bytes.isEmpty else { return params }
        let rules = folder.file("folders")
        return unsafe rules.withCString { unsafe access($0, F_OK) } == 0 ? nil : params
    }
}

extension ByteString {
    /// Adds a member of a JSON object whose value is a string without escapes.
    mutating func append(member name: StaticString, _ value: Text) {
        if !bytes.isEmpty { append(",") }
        append("\"")
        append(name)
        append("\":\"")
        append(value)
        append("\"")
    }

    mutating func append(member name: StaticString, _ value: StaticString) {
        unsafe append(
            member: name, Text(UnsafeRawBufferPointer(start: value.utf8Start, count: value.utf8CodeUnitCount)))
    }
}

import CStart

/// The params of a request that name its session.
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

package import AuthWire

extension TokenPlace {
    /// For `provider.show`; `nil`: the standard place.
    package var info: TokenPlaceInfo? {
        switch self {
        case .standard: nil
        case .header(let name, let value): TokenPlaceInfo(kind: "header", name: name, value: value.text)
        case .query(let name, let value): TokenPlaceInfo(kind: "query", name: name, value: value.text)
        case .cookie(let name, let value): TokenPlaceInfo(kind: "cookie", name: name, value: value.text)
        }
    }

    /// The place that an agent described.
    /// - Throws: `unsupported` for one that a newer agent knows.
    package init(_ info: TokenPlaceInfo?) throws(AgentError) {
        guard let info else {
            self = .standard
            return
        }
        guard let value = try? Template(parsing: info.value) else {
            throw AgentError(.unsupported, "The agent describes a token's place that this program cannot read.")
        }
        switch info.kind {
        case "header": self = .header(info.name, value)
        case "query": self = .query(info.name, value)
        case "cookie": self = .cookie(info.name, value)
        default: throw AgentError(.unsupported, "The agent names a token's place that this program does not know.")
        }
    }
}

extension ProviderProfile {
    /// Where requests carry the access token: a header of the profile replaces the standard one.
    var sentToken: TokenPlace {
        guard case .standard = tokenPlace,
            let own = headers.first(where: { $0.name.lowercased() == "authorization" }),
            own.value.placeholders.contains(TemplateValues.Name.accessToken)
        else { return tokenPlace }
        return .header(own.name, own.value)
    }
}

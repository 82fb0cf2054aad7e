internal import AuthConfiguration
internal import AuthModel
internal import AuthWire

/// Hosts beside the environments' own.
extension ProfileReader {
    static func hosts(_ root: TOMLSection, of profile: ProviderProfile) -> [ProviderHost] {
        guard let section = root.section("hosts") else { return [] }
        return section.keysInOrder.compactMap { name in
            if (try? SessionName(name)) == nil {
                root.problems.add(section.path(name), expected: "a host's name, \(SessionName.rule)", found: name)
            }
            guard let table = section.tableIfAny(name) else {
                return section.string(name).flatMap { address($0, at: section.path(name), root, profile) }
                    .map { ProviderHost(name: name, addresses: [nil: $0]) }
            }
            return ProviderHost(name: name, addresses: addresses(table, root, profile))
        }
    }

    /// One address for each environment of the profile.
    private static func addresses(
        _ table: TOMLSection, _ root: TOMLSection, _ profile: ProviderProfile
    ) -> [String?: String] {
        let known = profile.environments.map(\.name)
        table.allow(known)
        var addresses: [String?: String] = [:]
        for environment in known {
            let expected = "its address in \(environment), as in environments"
            guard let text = table.required(environment, expected) else { continue }
            addresses[environment] = address(text, at: table.path(environment), root, profile)
        }
        return addresses
    }

    /// The rules of a base URL.
    private static func address(
        _ text: String, at path: String, _ root: TOMLSection, _ profile: ProviderProfile
    ) -> String? {
        environment("host", text, at: path, insecure: profile.allowInsecureHTTP, problems: root.problems)?.baseURL
    }

    static func path(of described: ProfileRequest) -> String {
        described.keys.reduce("") { path, key in
            switch key {
            case .name(let name): TOMLPath.join(path, name)
            case .element(let index): TOMLPath.element(path, index)
            }
        }
    }

    /// Each host that a request names must be there.
    static func checkHosts(_ root: TOMLSection, _ profile: ProviderProfile) {
        let known = root.tableIfAny("hosts")?.keysInOrder ?? []
        for described in profile.requests {
            guard let host = described.request.host, !known.contains(host) else { continue }
            let path = TOMLPath.join(path(of: described), "host")
            let expected =
                known.isEmpty ? "no such key without [hosts]" : Suggestion.expected(insteadOf: host, among: known)
            root.problems.add(path, expected: expected, found: host)
        }
    }
}

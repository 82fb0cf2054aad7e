package import AuthWire

extension ProviderProfile {
    /// For `provider.list`.
    package var summary: ProviderSummary {
        ProviderSummary(
            name: name, title: title, environments: environments.map(\.name), methods: signIn.map(\.name),
            source: source)
    }

    /// What clients may see, for `provider.show`.
    package var detail: ProviderDetail {
        ProviderDetail(
            name: name, title: title,
            environments: environments.map {
                EnvironmentInfo(name: $0.name, url: $0.baseURL, isDefault: $0.name == defaultEnvironment)
            },
            hosts: hosts.isEmpty ? nil : hosts.flatMap(\.info), methods: signIn.map(\.info),
            password: PasswordAction.allCases.compactMap { password[$0]?.info },
            renewal: renewal.kind.rawValue, endpoints: endpoints.map(\.info), source: source,
            tokenPlace: sentToken.info)
    }
}

extension ProviderHost {
    fileprivate var info: [HostInfo] {
        addresses.sorted { $0.key ?? "" < $1.key ?? "" }
            .map { HostInfo(name: name, url: $0.value, environment: $0.key) }
    }
}

extension SignInMethod {
    package var info: SignInMethodInfo {
        let later = next.flatMap(\.fields)
        return SignInMethodInfo(
            name: name, label: label, fields: fields, kind: key == nil ? nil : SignInMethodInfo.key,
            later: later.isEmpty ? nil : later)
    }
}

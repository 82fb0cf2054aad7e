import AuthCore
import AuthWire

extension ProviderProfile {
    var summary: ProviderSummary {
        ProviderSummary(
            name: name, title: title, environments: environments.map(\.name), methods: signIn.map(\.name),
            source: source)
    }

    var detail: ProviderDetail {
        ProviderDetail(
            name: name, title: title,
            environments: environments.map { environment in
                EnvironmentInfo(
                    name: environment.name, url: environment.baseURL,
                    isDefault: environment.name == defaultEnvironment)
            },
            methods: signIn.map { SignInMethodInfo(name: $0.name, label: $0.label, fields: $0.fields) },
            renewal: renewal.kind.rawValue, source: source)
    }
}

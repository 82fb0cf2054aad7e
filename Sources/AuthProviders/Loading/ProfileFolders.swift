package import AuthModel
package import AuthWire

/// Loads the profiles of the user, the system and the program; of two with the same name the first of these is used.
package enum ProfileFolders {
    package struct Loaded: Sendable {
        package let catalog: ProfileCatalog
        /// Files with problems are left out; the others are loaded.
        package let problems: [ProfileProblem]
    }

    /// In one folder: each profile uses memory permanently.
    static let maxFiles = 256

    /// - Parameters:
    ///   - folders: in order of precedence (`$XDG_CONFIG_HOME/authd/providers`, `/etc/xdg/authd/providers`).
    ///   - environments: additions from the settings, by provider.
    ///   - defaults: default environments from the settings, by provider.
    package static func load(
        folders: [String], environments: [String: [AddedEnvironment]], defaults: [String: ChosenEnvironment]
    ) -> Loaded {
        let bundled = BundledProfiles.read()
        var problems = bundled.problems
        var profiles = Dictionary(bundled.profiles.map { ($0.name, $0) }) { $1 }
        for folder in folders.reversed() {
            let found = read(folder)
            problems += found.problems
            profiles.merge(found.profiles) { $1 }
        }
        for provider in environments.keys.sorted() {
            for added in environments[provider] ?? [] { problems += add(added, to: provider, of: &profiles) }
        }
        for provider in defaults.keys.sorted() {
            if let chosen = defaults[provider] { problems += choose(chosen, at: provider, of: &profiles) }
        }
        return Loaded(catalog: ProfileCatalog(Array(profiles.values)), problems: problems)
    }

    /// The profiles of one folder, by name.
    private static func read(_ folder: String) -> (profiles: [String: ProviderProfile], problems: [ProfileProblem]) {
        var profiles: [String: ProviderProfile] = [:]
        var problems: [ProfileProblem] = []
        let names = TextFile.names(in: folder)
        if names.count > maxFiles {
            problems.append(
                ProfileProblem(
                    file: folder, line: 0, key: "", expected: "at most \(maxFiles) profiles", found: "\(names.count)"))
        }
        for name in names.prefix(maxFiles) {
            let path = folder + "/" + name
            switch TextFile.read(path)?.flatMap({ ProfileReader.read($0, source: path) }) {
            case nil: continue
            case .failure(let failure): problems += failure.problems
            case .success(let profile):
                guard let other = profiles[profile.name] else {
                    profiles[profile.name] = profile
                    continue
                }
                problems.append(
                    ProfileProblem(
                        file: path, line: 0, key: "name", expected: "a name that \(other.source) does not have",
                        found: profile.name))
            }
        }
        return (profiles, problems)
    }

    /// Adds an environment, or replaces the one with that name, or reports why not.
    private static func add(
        _ added: AddedEnvironment, to provider: String, of profiles: inout [String: ProviderProfile]
    ) -> [ProfileProblem] {
        func problem(_ expected: String, _ found: String) -> [ProfileProblem] {
            [ProfileProblem(file: added.file, line: added.line, key: added.key, expected: expected, found: found)]
        }
        guard var profile = profiles[provider] else { return problem(known(profiles), provider) }
        let url = added.environment.baseURL
        if !profile.allowInsecureHTTP, let base = try? BaseURL(url), !base.isSecure, !base.isLoopback {
            return problem("https: http is allowed for this machine only (or allow_insecure_http in the profile)", url)
        }
        if let place = profile.environments.firstIndex(where: { $0.name == added.environment.name }) {
            profile.environments[place] = added.environment
        } else {
            profile.environments.append(added.environment)
        }
        profiles[provider] = profile
        return []
    }

    private static func choose(
        _ chosen: ChosenEnvironment, at provider: String, of profiles: inout [String: ProviderProfile]
    ) -> [ProfileProblem] {
        func problem(_ expected: String, _ found: String) -> [ProfileProblem] {
            [ProfileProblem(file: chosen.file, line: chosen.line, key: chosen.key, expected: expected, found: found)]
        }
        guard let names = profiles[provider]?.environments.map(\.name) else {
            return problem(known(profiles), provider)
        }
        guard names.contains(chosen.name) else {
            return problem("one of \(names.joined(separator: ", "))", chosen.name)
        }
        profiles[provider]?.defaultEnvironment = chosen.name
        return []
    }

    private static func known(_ profiles: [String: ProviderProfile]) -> String {
        "the name of a provider: " + profiles.keys.sorted().joined(separator: ", ")
    }
}

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
        folders: [String], environments: [String: [SettingsEntry<ProviderEnvironment>]],
        defaults: [String: SettingsEntry<String>]
    ) -> Loaded {
        var problems: [ProfileProblem] = []
        var profiles: [String: ProviderProfile] = [:]
        for folder in folders.reversed() {
            let found = read(folder)
            problems += found.problems
            profiles.merge(found.profiles) { $1 }
        }
        var changes: [String: ProfileChanges] = [:]
        for provider in environments.keys.sorted() {
            for added in environments[provider] ?? [] {
                problems += add(added, to: provider, of: profiles, &changes[provider, default: ProfileChanges()])
            }
        }
        for provider in defaults.keys.sorted() {
            guard let chosen = defaults[provider] else { continue }
            problems += choose(chosen, at: provider, of: profiles, &changes[provider, default: ProfileChanges()])
        }
        for (provider, changes) in changes { profiles[provider] = profiles[provider].map(changes.applied) }
        let catalog = ProfileCatalog(Array(profiles.values), bundled: BundledProfiles.all(changedBy: changes))
        return Loaded(catalog: catalog, problems: problems)
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
            do throws(ProfileProblems) {
                guard let text = try TextFile.read(path) else { continue }
                let profile = try ProfileReader.read(text, source: path)
                guard let other = profiles[profile.name] else {
                    profiles[profile.name] = profile
                    continue
                }
                problems.append(
                    ProfileProblem(
                        file: path, line: 0, key: "name", expected: "a name that \(other.source) does not have",
                        found: profile.name))
            } catch {
                problems += error.problems
            }
        }
        return (profiles, problems)
    }

    /// Adds an environment, or replaces the one with that name, or reports why not. A bundled profile is read only if that depends
    /// on it.
    private static func add(
        _ added: SettingsEntry<ProviderEnvironment>, to provider: String, of profiles: [String: ProviderProfile],
        _ changes: inout ProfileChanges
    ) -> [ProfileProblem] {
        guard exists(provider, in: profiles) else {
            return added.problem(known(profiles, insteadOf: provider), provider)
        }
        let url = added.value.baseURL
        if let base = try? BaseURL(url), !base.isSecure, !base.isLoopback,
            profile(provider, in: profiles)?.allowInsecureHTTP != true
        {
            return added.problem(
                "https: http is allowed for this machine only (or allow_insecure_http in the profile)", url)
        }
        changes.environments.append(added.value)
        return []
    }

    private static func choose(
        _ chosen: SettingsEntry<String>, at provider: String, of profiles: [String: ProviderProfile],
        _ changes: inout ProfileChanges
    ) -> [ProfileProblem] {
        guard exists(provider, in: profiles) else {
            return chosen.problem(known(profiles, insteadOf: provider), provider)
        }
        if !changes.environments.contains(where: { $0.name == chosen.value }) {
            let names = profile(provider, in: profiles).map { changes.applied(to: $0).environments.map(\.name) } ?? []
            guard names.contains(chosen.value) else {
                return chosen.problem(Suggestion.oneOf(names, insteadOf: chosen.value), chosen.value)
            }
        }
        changes.defaultEnvironment = chosen.value
        return []
    }

    private static func exists(_ provider: String, in profiles: [String: ProviderProfile]) -> Bool {
        profiles[provider] != nil || BundledProfiles.texts[provider] != nil
    }

    private static func profile(_ provider: String, in profiles: [String: ProviderProfile]) -> ProviderProfile? {
        profiles[provider] ?? BundledProfiles.all.first { $0.name == provider }?.profile
    }

    private static func known(_ profiles: [String: ProviderProfile], insteadOf name: String) -> String {
        let names = Set(profiles.keys).union(BundledProfiles.texts.keys).sorted()
        return "the name of a provider: " + names.joined(separator: ", ")
            + Suggestion.question(about: name, among: names)
    }
}

extension SettingsEntry {
    fileprivate func problem(_ expected: String, _ found: String) -> [ProfileProblem] {
        [ProfileProblem(file: file, line: line, key: key, expected: expected, found: found)]
    }
}

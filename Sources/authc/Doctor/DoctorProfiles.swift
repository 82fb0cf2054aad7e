import AuthWire

/// Lists the files that sessions depend on: the settings, and the profiles that are not built in, with their warnings.
enum DoctorProfiles {
    static func settings(_ file: SettingsFile) -> Finding {
        .ok(.settings, file.exists ? file.pathInUse : "no settings file")
    }

    static func findings(_ agent: Agent) throws(Failure) -> [Finding] {
        // The source of a built-in profile is a word, not a path.
        let own = try answer(to: ProviderListGet(), agent)?.providers.filter { $0.source.hasPrefix("/") } ?? []
        var findings: [Finding] = []
        for provider in own {
            findings.append(
                .ok(.settings, "\(provider.name): \(provider.source)").about(provider.name, provider.source, list: all))
            findings += try notes(provider, agent)
        }
        return findings
    }

    private static let all = "`authc provider list` shows all"

    /// Nothing about a file that cannot be read or has problems: the check of all settings reports that.
    private static func notes(_ provider: ProviderSummary, _ agent: Agent) throws(Failure) -> [Finding] {
        let path = provider.source
        guard let text = try? FileText.read(path, atMost: Provider.Check.longestProfile, isBlocking: false),
            let check = try answer(to: ProviderCheckRun(text: text, file: path), agent)
        else { return [] }
        return check.notes.map { note in
            .warning(
                .settings, note.description, hint: "`authc provider check \(ShellWord.quoted(path))`"
            ).about(provider.name, note.description, list: all)
        }
    }

    /// - Returns: `nil` if the agent refuses, is busy or does not know the method: nothing depends on this.
    private static func answer<Method: AgentMethod>(
        to method: Method, _ agent: Agent
    ) throws(Failure) -> Method.Result? {
        do throws(Failure) {
            return try agent.call(method).value
        } catch {
            guard error.agentError != nil else { throw error }
            return nil
        }
    }
}

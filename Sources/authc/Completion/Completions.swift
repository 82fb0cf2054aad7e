import CommandArguments

// Every option and argument has one of these, because `completion:` has no default.
extension CompletionKind {
    /// The user alone knows what to write.
    static let nothing = CompletionKind.list([])
    static let lengths = CompletionKind.list(["10s", "30s", "1m", "5m", "1h"])
    static let sessions = live(KnownNames.sessions)
    static let providers = live(KnownNames.providers)
    static let environments = live(KnownNames.environments)
    static let methods = live(KnownNames.methods)
    static let fields = live(KnownNames.fields)
    static let secretFields = live(KnownNames.secretFields)
    static let endpoints = live(KnownNames.endpoints)
    static let arguments = live(KnownNames.arguments)
    static let secretArguments = live(KnownNames.secretArguments)
    static let paths = live(KnownNames.paths)
    static let origins = live(KnownNames.origins)
    static let hosts = live(KnownNames.hosts)
    static let scopes = live(KnownNames.scopes)
    static let providerScopes = live(KnownNames.providerScopes)
    static let clusterHosts = live(KnownNames.clusterHosts)
    static let listeners = live(KnownNames.listeners)
    static let lenders = live(KnownNames.lenders)
    static let outbox = live(KnownNames.outbox)
    static let tokenVariables = live(KnownNames.tokenVariables)
    static let sessionFields = live { $0.listed(SessionFields.names) }
    static let templates = live { _ in SessionFields.names.map { "{{\($0)}}" } }
    static let settingValues = live { SettingName.values($0.words) }
    static let clients = live { _ in KnownNames.clients() }
    static let programs = live(KnownPrograms.words)

    static func words<Word: CaseIterable & RawRepresentable<String>>(_: Word.Type) -> CompletionKind {
        .list(Word.allCases.map(\.rawValue))
    }

    /// Shells show words as they are, one a line: those that a terminal would act on are left out.
    static func live(_ names: @escaping @Sendable (CompletionLine) -> [String]) -> CompletionKind {
        .custom { words, index, prefix in
            names(CompletionLine(words: words, index: index, prefix: prefix)).filter { Visible.line($0) == $0 }
        }
    }
}

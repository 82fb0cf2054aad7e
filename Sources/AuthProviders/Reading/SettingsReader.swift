internal import AuthConfiguration
package import AuthModel
internal import AuthWire

/// Reads the settings, authd.toml(5).
package enum SettingsReader {
    private static let levels = ["trace", "debug", "info", "notice", "warning", "error", "critical"]
    /// Time limits in settings: shorter ones always fail, longer ones never end.
    private static let timeouts = Duration.milliseconds(100)...Duration.seconds(3600)

    /// For `cache_mib`: a gigabyte is more than one user needs.
    private static let cacheSizes = 0...1024

    /// For `sign_ins_per_hour`: more than 27 in a second are no limit.
    private static let signInCounts = 1...100_000

    /// For `idle_minutes`: a week at most.
    private static let idleMinutes = 1...10_080

    /// - Throws: all problems of the settings.
    package static func read(_ text: String, source: String) throws(ProfileProblems) -> Settings {
        let root = try TOMLDocument.read(text, file: source)
        let settings = settings(root)
        guard root.problems.problems.isEmpty else { throw ProfileProblems(root.problems.problems) }
        return settings
    }

    private static func settings(_ root: TOMLSection) -> Settings {
        root.allow(
            "store", "sealed_key", "etcd", "socket", "log_level", "allowed_user_ids", "default_session",
            "notifications",
            "dbus", "sign_ins_per_hour", "http", "api", "client_metadata_url", "network", "prompt", "providers",
            "folder", "hook", "listener", "lock", "presence", "sessions")
        var settings = Settings()
        settings.store = root.word("store", of: StoreKind.allCases.map(\.rawValue)).flatMap(StoreKind.init)
        settings.logLevel = root.word("log_level", of: levels)
        settings.sealedKey = sealedKey(root)
        settings.etcd = etcd(root)
        settings.socket = absolutePath(root, "socket")
        settings.allowedUserIDs = userIDs(root)
        settings.defaultSession = sessionName(root, "default_session")
        settings.notifications = root.bool("notifications") ?? true
        settings.dbus = root.bool("dbus") ?? true
        if let count = root.integer("sign_ins_per_hour", in: signInCounts) { settings.signInsPerHour = count }
        settings.clientDocument = clientDocument(root)
        if let http = root.section("http") { settings.http = httpSettings(http) }
        if let listeners = root.section("listener") { settings.listeners = listenerTables(listeners) }
        if let lock = root.section("lock") { settings.lock = lockSettings(lock) }
        settings.presence = presence(root)
        if let network = root.section("network") {
            network.allow("metered")
            settings.waitsIfMetered = network.word("metered", of: ["send", "wait"]) == "wait"
        }
        if let api = root.section("api") {
            api.allow("cache_mib")
            if let size = api.integer("cache_mib", in: cacheSizes) { settings.apiCacheBytes = size << 20 }
        }
        if let prompt = root.section("prompt") { check(prompt: prompt) }
        if let providers = root.section("providers") { readProviders(providers, into: &settings) }
        settings.folders = root.list("folder").compactMap(folderRule)
        settings.hooks = root.list("hook").compactMap(hook)
        return settings
    }

    private static func lockSettings(_ section: TOMLSection) -> LockSettings {
        section.allow("idle_minutes", "with_login_sessions", "before_sleep", "presence")
        return LockSettings(
            idle: section.integer("idle_minutes", in: idleMinutes).map { .seconds(60 * $0) },
            withLoginSessions: section.bool("with_login_sessions") ?? false,
            beforeSleep: section.bool("before_sleep") ?? false, presence: section.bool("presence") ?? false)
    }

    /// `authc shell-init` reads the values.
    private static func check(prompt section: TOMLSection) {
        section.allow("format", "folder_only", "attention_only")
        if let format = section.string("format"), PromptFormat(format) == nil {
            section.problems.add(
                section.path("format"), expected: PromptFormat.expected(insteadOf: format), found: format)
        }
        for key in ["folder_only", "attention_only"] { _ = section.bool(key) }
    }

    private static func httpSettings(_ section: TOMLSection) -> HTTPSettings {
        section.allow("proxy", "no_proxy", "ca_file", "connect_timeout", "request_timeout", "total_timeout")
        let proxy = section.string("proxy")
        // The text is not repeated: a proxy's address may contain a password.
        if let proxy, proxy != "none", !HTTPSettings.proxySchemes.contains(where: { proxy.hasPrefix($0 + "://") }) {
            let schemes = HTTPSettings.proxySchemes.map { $0 + "://HOST:PORT" }.joined(separator: ", ")
            section.problems.add(section.path("proxy"), expected: "\(schemes) or none", found: "another text")
        }
        var settings = HTTPSettings()
        settings.proxy = proxy
        settings.noProxy = section.strings("no_proxy") ?? []
        settings.caFile = absolutePath(section, "ca_file")
        settings.requestTimeout = duration(section, "request_timeout") ?? HTTPSettings.defaultRequestTimeout
        settings.totalTimeout = duration(section, "total_timeout") ?? HTTPSettings.defaultTotalTimeout
        settings.connectTimeout = duration(section, "connect_timeout") ?? HTTPSettings.defaultConnectTimeout
        return settings
    }

    private static func clientDocument(_ root: TOMLSection) -> String? {
        guard let url = root.string("client_metadata_url") else { return nil }
        if ClientMetadata.isDocumentURL(url) { return url }
        root.problems.add(
            "client_metadata_url", expected: "an https URL with a path, without a query, fragment or user name",
            found: url)
        return nil
    }

    private static func readProviders(_ providers: TOMLSection, into settings: inout Settings) {
        for provider in providers.keysInOrder {
            guard let section = providers.section(provider) else { continue }
            section.allow("environments", "default_environment")
            settings.defaultEnvironments[provider] = section.string("default_environment").map {
                entry($0, at: section.path("default_environment"), in: section)
            }
            guard let urls = section.section("environments") else { continue }
            settings.environments[provider] = urls.keysInOrder.compactMap { name in
                urls.string(name).flatMap { added(name, $0, in: urls) }
            }
        }
    }

    /// The profile decides whether plain http is allowed: see ``ProfileFolders``.
    private static func added(_ name: String, _ url: String, in urls: TOMLSection) -> SettingsEntry<
        ProviderEnvironment
    >? {
        let path = urls.path(name)
        return ProfileReader.environment(name, url, at: path, insecure: true, problems: urls.problems).map {
            entry($0, at: path, in: urls)
        }
    }

    private static func entry<Value>(_ value: Value, at path: String, in section: TOMLSection) -> SettingsEntry<Value> {
        SettingsEntry(value, file: section.problems.file, line: section.problems.line(of: path), key: path)
    }

    private static func folderRule(_ section: TOMLSection) -> FolderRule? {
        section.allow("path", "session")
        let expected = "an absolute path, or one that begins with ~/"
        let path = section.required("path", expected)
        if !section.has("session") {
            section.problems.add(section.path("session"), expected: "a session's name", found: "nothing")
        }
        guard let session = sessionName(section, "session"), var path else { return nil }
        let isWhole = path.hasPrefix("/") || path == "~" || path.hasPrefix("~/")
        guard isWhole, path.utf8.allSatisfy({ $0 >= 0x20 }) else {
            section.problems.add(section.path("path"), expected: expected, found: path)
            return nil
        }
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        return FolderRule(path: path, session: session)
    }

    private static func hook(_ section: TOMLSection) -> Hook? {
        section.allow("on", "command")
        let event = section.word("on", of: Hook.Event.allCases.map(\.rawValue), isRequired: true)
        let expected = "a list: the absolute path of a program, and its arguments"
        let command = section.strings("command") ?? []
        let isText = !command.contains { $0.unicodeScalars.contains("\0") }
        guard let program = command.first, program.hasPrefix("/"), isText else {
            section.problems.add(section.path("command"), expected: expected, found: command.first ?? "nothing")
            return nil
        }
        return event.flatMap(Hook.Event.init).map { Hook(on: $0, command: command) }
    }

    static func sessionName(_ section: TOMLSection, _ key: String) -> SessionName? {
        guard let text = section.string(key) else { return nil }
        if let name = try? SessionName(text) { return name }
        section.problems.add(section.path(key), expected: "a session's name, \(SessionName.rule)", found: text)
        return nil
    }

    /// A whole number with its unit: `500ms`, `30s`, `2m`.
    private static func duration(_ section: TOMLSection, _ key: String) -> Duration? {
        guard let text = section.string(key) else { return nil }
        let digits = text.prefix { "0123456789".contains($0) }
        let unit: Duration? =
            switch text.dropFirst(digits.count) {
            case "ms": .milliseconds(1)
            case "s": .seconds(1)
            case "m": .seconds(60)
            default: nil
            }
        if digits.count <= 9, let unit, let count = Int(digits), timeouts.contains(unit * count) { return unit * count }
        section.problems.add(
            section.path(key), expected: "a time from 100ms to 60m, such as \"500ms\", \"30s\" or \"2m\"", found: text)
        return nil
    }

    static func absolutePath(_ section: TOMLSection, _ key: String) -> String? {
        guard let path = section.string(key) else { return nil }
        if path.hasPrefix("/") { return path }
        section.problems.add(section.path(key), expected: "an absolute path", found: path)
        return nil
    }

    private static func sealedKey(_ root: TOMLSection) -> SealedKey? {
        switch root.string("sealed_key") {
        case nil: return nil
        case "credential": return .credential
        case "passphrase": return .passphrase
        case let path? where path.hasPrefix("/"): return .file(path)
        case let other?:
            root.problems.add(
                "sealed_key", expected: "credential, passphrase or the absolute path of a file", found: other)
            return nil
        }
    }

    private static func userIDs(_ root: TOMLSection) -> [UInt32] {
        (root.integers("allowed_user_ids") ?? []).enumerated().compactMap { index, number in
            // The highest number means "no user" to the kernel (setuid(2)).
            if let id = UInt32(exactly: number), id != .max { return id }
            root.problems.add(
                TOMLPath.element("allowed_user_ids", index), expected: "a user's number, from 0 to \(UInt32.max - 1)",
                found: String(number))
            return nil
        }
    }
}

import AuthWire

/// The settings of authd.toml(5), with the type of each value. A test compares them with the settings' reader.
package struct SettingKey: Sendable, Equatable {
    package enum ValueType: Sendable, Equatable {
        case text
        /// One of these texts.
        case word([String])
        case boolean, integer
        case texts, integers
    }

    /// With `NAME` for what the user chooses, and `[N]` for the number of a table in a list.
    package let name: String
    package let type: ValueType
    /// The built-in value, if it is one value.
    package let standard: String?

    private init(_ name: String, _ type: ValueType, default standard: String? = nil) {
        (self.name, self.type, self.standard) = (name, type, standard)
    }

    package static let all = [
        SettingKey("store", .word(StoreKind.allCases.map(\.rawValue)), default: StoreKind.secretService.rawValue),
        SettingKey("sealed_key", .text),
        SettingKey("etcd.endpoints", .texts),
        SettingKey("etcd.ca_file", .text),
        SettingKey("etcd.certificate_file", .text),
        SettingKey("etcd.key_file", .text),
        SettingKey("etcd.user", .text),
        SettingKey("etcd.password_file", .text),
        SettingKey("etcd.prefix", .text),
        SettingKey("socket", .text),
        SettingKey(
            "log_level", .word(["trace", "debug", "info", "notice", "warning", "error", "critical"]), default: "info"),
        SettingKey("allowed_user_ids", .integers),
        SettingKey("default_session", .text),
        SettingKey("notifications", .boolean, default: "true"),
        SettingKey("dbus", .boolean, default: "true"),
        SettingKey("sign_ins_per_hour", .integer, default: "60"),
        SettingKey("client_metadata_url", .text),
        SettingKey("http.proxy", .text),
        SettingKey("http.no_proxy", .texts),
        SettingKey("http.ca_file", .text),
        SettingKey("http.connect_timeout", .text, default: "10s"),
        SettingKey("http.request_timeout", .text, default: "30s"),
        SettingKey("http.total_timeout", .text, default: "60s"),
        SettingKey("lock.idle_minutes", .integer),
        SettingKey("lock.with_login_sessions", .boolean, default: "false"),
        SettingKey("lock.before_sleep", .boolean, default: "false"),
        SettingKey("lock.presence", .boolean, default: "false"),
        SettingKey("presence.remember_minutes", .integer),
        SettingKey("sessions.NAME.presence", .boolean),
        SettingKey("network.metered", .word(["send", "wait"]), default: "send"),
        SettingKey("api.cache_mib", .integer, default: "16"),
        SettingKey("prompt.format", .text, default: PromptFormat.standard),
        SettingKey("prompt.folder_only", .boolean, default: "false"),
        SettingKey("prompt.attention_only", .boolean, default: "false"),
        SettingKey("providers.NAME.default_environment", .text),
        SettingKey("providers.NAME.environments.NAME", .text),
        SettingKey("folder[N].path", .text),
        SettingKey("folder[N].session", .text),
        SettingKey(
            "hook[N].on",
            .word([
                "session.added", "session.active", "session.renewed", "session.ending", "session.sign_in_required",
                "session.signed_out",
            ])),
        SettingKey("hook[N].command", .texts),
        SettingKey("listener.extra.listen", .boolean, default: "false"),
        SettingKey("listener.extra.socket", .text),
        SettingKey("listener.extra.sessions", .texts),
        SettingKey("listener.extra.classes", .texts),
        SettingKey("listener.extra.methods", .texts),
        SettingKey("listener.extra.endpoints", .texts),
        SettingKey("listener.extra.scopes", .texts),
        SettingKey("listener.extra.audiences", .texts),
        SettingKey("listener.extra.sign_in_providers", .texts),
        SettingKey("listener.extra.sign_in_scopes", .texts),
        SettingKey("listener.NAME.sessions", .texts),
        SettingKey("listener.NAME.classes", .texts),
        SettingKey("listener.NAME.methods", .texts),
        SettingKey("listener.NAME.endpoints", .texts),
        SettingKey("listener.NAME.scopes", .texts),
        SettingKey("listener.NAME.audiences", .texts),
        SettingKey("listener.NAME.sign_in_providers", .texts),
        SettingKey("listener.NAME.sign_in_scopes", .texts),
    ]

    /// The setting with this path.
    package static func matching(_ path: [TOMLPath.Component]) -> SettingKey? {
        all.first { $0.matches(path, whole: true) }
    }

    /// Whether a table or list of tables with this path has settings.
    package static func isTable(_ path: [TOMLPath.Component]) -> Bool {
        all.contains { $0.matches(path, whole: false) && !$0.matches(path, whole: true) }
    }

    /// The words of the name: keys, and whether each is the number of a table.
    private var pattern: [String] {
        name.split(separator: ".").flatMap { word in
            word.hasSuffix("[N]") ? [String(word.dropLast(3)), "[N]"] : [String(word)]
        }
    }

    private func matches(_ path: [TOMLPath.Component], whole: Bool) -> Bool {
        let pattern = pattern
        guard whole ? path.count == pattern.count : path.count <= pattern.count else { return false }
        return zip(path, pattern).allSatisfy { component, word in
            switch component {
            case .index: word == "[N]"
            case .key(let key): word == "NAME" || word == key
            }
        }
    }

    /// The value as TOML.
    /// - Returns: `nil` if the texts are not a value of this type.
    package func literal(_ texts: [String]) -> String? {
        switch type {
        case .text, .word: texts.count == 1 ? TOMLEscape.quoted(texts[0]) : nil
        case .boolean: texts == ["true"] || texts == ["false"] ? texts[0] : nil
        case .integer: texts.count == 1 ? Int64(texts[0]).map(String.init) : nil
        case .texts: "[" + texts.map { TOMLEscape.quoted($0) }.joined(separator: ", ") + "]"
        case .integers: Self.integers(texts).map { "[" + $0.joined(separator: ", ") + "]" }
        }
    }

    /// For messages.
    package var expected: String {
        switch type {
        case .text: "a string"
        case .word(let words): "one of " + words.joined(separator: ", ")
        case .boolean: "true or false"
        case .integer: "a whole number"
        case .texts: "one or more strings"
        case .integers: "whole numbers"
        }
    }

    private static func integers(_ texts: [String]) -> [String]? {
        let numbers = texts.compactMap { Int64($0).map(String.init) }
        return numbers.count == texts.count ? numbers : nil
    }
}

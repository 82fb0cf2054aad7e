internal import AuthConfiguration
internal import AuthModel
internal import AuthWire

/// `[listener.NAME]`: what confined clients may do.
extension SettingsReader {
    static func listenerTables(_ section: TOMLSection) -> ListenerTables {
        var tables = ListenerTables()
        for key in section.keysInOrder {
            guard let name = ListenerName(table: key) else {
                section.problems.add(
                    section.path(key),
                    expected: "extra or the FileDescriptorName= of a socket unit, \(ListenerName.rule)", found: key)
                continue
            }
            if let table = section.section(key) { tables[name] = listenerRules(table, of: name) }
        }
        return tables
    }

    private static func listenerRules(_ section: TOMLSection, of name: ListenerName) -> ListenerRules {
        // The unit of another listener opens its socket.
        let opening = name == .extra ? ["listen", "socket"] : []
        section.allow(
            opening + [
                "sessions", "classes", "methods", "endpoints", "scopes", "audiences", "sign_in_providers",
                "sign_in_scopes",
            ])
        var rules = ListenerRules()
        if name == .extra {
            rules.listens = section.bool("listen") ?? false
            rules.socket = absolutePath(section, "socket")
        }
        rules.sessions = Set(
            words(section, "sessions", "a session's name, \(SessionName.rule)") { try? SessionName($0) })
        let classes = ListenerRules.grantableClasses
        rules.classes = Set(
            words(section, "classes", "one of " + classes.map(\.rawValue).joined(separator: ", ")) { word in
                classes.first { $0.rawValue == word }
            })
        let methods = ListenerRules.grantableMethods
        rules.methods = Set(
            words(section, "methods", "one of " + methods.joined(separator: ", ")) { methods.contains($0) ? $0 : nil })
        rules.endpoints = Set(section.strings("endpoints") ?? [])
        rules.scopes = Set(section.strings("scopes") ?? [])
        rules.audiences = Set(section.strings("audiences") ?? [])
        rules.signInProviders = Set(section.strings("sign_in_providers") ?? [])
        rules.signInScopes = section.strings("sign_in_scopes").map(Set.init)
        if rules.signInScopes != nil, rules.signInProviders.isEmpty {
            section.problems.add(
                section.path("sign_in_scopes"), expected: "sign_in_providers beside it", found: "none")
        }
        if rules.methods.contains(TokenGet.name), rules.scopes.isEmpty, rules.audiences.isEmpty {
            section.problems.add(
                section.path("methods"), expected: "scopes or audiences beside \(TokenGet.name)", found: "neither")
        }
        return rules
    }

    private static func words<Word>(
        _ section: TOMLSection, _ key: String, _ expected: String, _ read: (String) -> Word?
    ) -> [Word] {
        (section.strings(key) ?? []).enumerated().compactMap { index, text in
            if let word = read(text) { return word }
            section.problems.add(TOMLPath.element(section.path(key), index), expected: expected, found: text)
            return nil
        }
    }
}

internal import AuthCore
internal import AuthWire

/// The ways to sign in.
extension ProfileReader {
    private static let kinds = ["text", "email", "password", "code"]
    private static let classes: [(word: String, rule: FieldRule)] = [
        ("lower", .lowercaseLetter), ("upper", .uppercaseLetter), ("digit", .digit),
    ]
    /// Of `min_length`: longer than anybody is asked for.
    private static let lengths = 1...1024

    static func signInMethods(_ root: TOMLSection) -> [SignInMethod] {
        guard let section = root.requiredTable("sign_in", "a table for each sign-in method") else { return [] }
        return section.keysInOrder.compactMap { name in
            if (try? SessionName(name)) == nil {
                root.problems.add(section.path(name), expected: "a method's name, \(SessionName.rule)", found: name)
            }
            return section.section(name).flatMap { signInMethod(name, $0) }
        }
    }

    private static func signInMethod(_ name: String, _ section: TOMLSection) -> SignInMethod? {
        section.allow("label", "fields", "request", "reply")
        let fields = section.list("fields").compactMap(stepField)
        if !section.has("fields") {
            section.problems.add(section.path("fields"), expected: "a list of what is asked for", found: "nothing")
        }
        let names = fields.map(\.step.name)
        let reply = section.section("reply").map(replyMap)
        let request = requiredRequest(section, names: .signIn(names), mayBear: false)
        guard let request else { return nil }
        for (index, name) in names.enumerated() {
            let path = TOMLPath.element(section.path("fields"), index)
            if names[..<index].contains(name) {
                section.problems.add(TOMLPath.join(path, "name"), expected: "a name of its own", found: name)
            } else if !request.placeholders.contains(name) {
                section.problems.add(
                    TOMLPath.join(path, "name"), expected: "a field that the request sends, as {\(name)}", found: name)
            }
        }
        return SignInMethod(
            name: name, label: section.string("label") ?? name, fields: fields.map(\.step),
            rules: Dictionary(fields.map { ($0.step.name, $0.rules) }) { $1 }, request: request, reply: reply)
    }

    private static func stepField(_ section: TOMLSection) -> (step: StepField, rules: [FieldRule])? {
        section.allow("name", "label", "kind", "secret", "optional", "default", "min_length", "needs", "one_of")
        let expected = "a field's name: letters, digits and _, beginning with a letter, and not environment"
        let kind = section.word("kind", of: kinds)
        let rules = rules(section, kind: kind)
        guard let name = section.required("name", expected) else { return nil }
        guard isFieldName(name) else {
            section.problems.add(section.path("name"), expected: expected, found: name)
            return nil
        }
        let isSecret = section.bool("secret") ?? (kind == "password")
        if isSecret, section.has("default") {
            section.problems.add(section.path("default"), expected: "no default for a secret", found: "one")
        }
        let step = StepField(
            name: name, label: section.string("label") ?? name, secret: isSecret,
            optional: section.bool("optional") ?? false, kind: kind, rules: rules.isEmpty ? nil : rules.map(\.words),
            value: isSecret ? nil : section.string("default"))
        return (step, rules)
    }

    /// What a template can name, and does not mean something else there.
    private static func isFieldName(_ name: String) -> Bool {
        guard name != TemplateValues.Name.environment, !name.contains(".") else { return false }
        return (try? Template(parsing: "{\(name)}").placeholders) == [name]
    }

    private static func rules(_ section: TOMLSection, kind: String?) -> [FieldRule] {
        var rules: [FieldRule] = kind == "email" ? [.email] : []
        if let length = section.integer("min_length", in: lengths) { rules.append(.minimumLength(length)) }
        for (index, word) in (section.strings("needs") ?? []).enumerated() {
            if let known = classes.first(where: { $0.word == word }) {
                rules.append(known.rule)
            } else {
                section.problems.add(
                    TOMLPath.element(section.path("needs"), index), expected: "lower, upper or digit", found: word)
            }
        }
        if let characters = section.string("one_of") {
            if characters.isEmpty {
                section.problems.add(section.path("one_of"), expected: "at least one character", found: "none")
            }
            rules.append(.oneOf(characters))
        }
        return rules
    }
}

internal import AuthConfiguration
internal import AuthModel
internal import AuthWire

/// Sign-in methods.
extension ProfileReader {
    private static let classes: [(word: String, rule: FieldRule)] = [
        ("lower", .lowercaseLetter), ("upper", .uppercaseLetter), ("digit", .digit),
    ]
    private static let methodKeys = [
        "kind", "label", "fields", "before", "challenge", "first", "request", "token", "check", "reply",
        "needs_password", "next",
    ]
    /// For `min_length`.
    private static let lengths = 1...1024
    /// For a challenge: no code is valid for longer than a day.
    private static let seconds = 1...86_400
    private static let digits = 1...32

    static func signInMethods(_ root: TOMLSection) -> [SignInMethod] {
        guard let section = root.requiredTable("sign_in", "a table for each sign-in method") else { return [] }
        return section.keysInOrder.compactMap { name in
            if (try? SessionName(name)) == nil {
                root.problems.add(section.path(name), expected: "a method's name, \(SessionName.rule)", found: name)
            }
            return section.section(name).flatMap { $0.has("kind") ? keyMethod(name, $0) : signInMethod(name, $0) }
        }
    }

    /// Requests about the account's password.
    static func passwordMethods(
        _ root: TOMLSection, session: PlaceholderNames
    ) -> [PasswordAction: SignInMethod] {
        guard let section = root.section("password") else { return [:] }
        var methods: [PasswordAction: SignInMethod] = [:]
        for name in section.keysInOrder {
            guard let action = PasswordAction(rawValue: name) else {
                let words = PasswordAction.allCases.map(\.rawValue).joined(separator: ", ")
                section.problems.add(section.path(name), expected: "one of \(words)", found: name)
                continue
            }
            let known = action.needsSession ? session : nil
            methods[action] = section.section(name).flatMap { signInMethod(name, $0, session: known) }
        }
        return methods
    }

    /// - Parameter session: names that a session adds; `nil` if there is no session yet.
    private static func signInMethod(
        _ name: String, _ section: TOMLSection, session: PlaceholderNames? = nil
    ) -> SignInMethod? {
        section.allow(methodKeys)
        refuse(["kind", "token", "check"], in: section, expected: "it with kind = \"key\", in [sign_in.METHOD]")
        // A request about a password that does not sign in has one response, and ends with it.
        let hasSteps = !section.path.hasPrefix("password.") || name == PasswordAction.reset.rawValue
        if !hasSteps {
            refuse(["before", "next"], in: section, expected: "it in [sign_in.METHOD] or [password.reset]")
        }
        let fields = section.list("fields").compactMap { stepField($0) }
        if !section.has("fields") {
            section.problems.add(section.path("fields"), expected: "a list of fields", found: "nothing")
        }
        var names = PlaceholderNames.signIn(fields.map(\.step), session: session)
        let own = fields.map(\.step.name)
        let reply = section.section("reply").map(replyMap)
        // What a challenge has sent is not known before it.
        let late = section.tableIfAny("challenge")?.string("field").map { [$0] } ?? []
        var early = names.without(late)
        let before = hasSteps ? self.before(section, &early, hiding: own) : []
        let challenge = section.section("challenge").flatMap { self.challenge($0, fields.map(\.step), &early) }
        names = early.with(late.filter(own.contains))
        let first = section.section("first").flatMap { firstRequest($0, &names, own) }
        let request =
            session == nil
            ? capturingRequest(section, &names, hiding: own) : requiredRequest(section, names: names, mayBear: true)
        let next = hasSteps ? steps(section, names, fields.map(\.step)) : []
        guard let request else { return nil }
        let sent = before + [request, challenge?.request, first?.request].compactMap(\.self) + next.map(\.request)
        checkNames(own, sent, section)
        var method = SignInMethod(
            name: name, label: section.string("label") ?? name, fields: fields.map(\.step),
            rules: Dictionary(fields.map { ($0.step.name, $0.rules) }) { $1 }, request: request)
        method.before = before
        method.next = next
        method.challenge = challenge
        method.first = first
        method.reply = reply
        method.needsPassword = section.bool("needs_password")
        return method
    }

    private static func refuse(_ keys: [String], in section: TOMLSection, expected: String) {
        for key in keys where section.has(key) {
            section.problems.add(section.path(key), expected: expected, found: key)
        }
    }

    private static func keyMethod(_ name: String, _ section: TOMLSection) -> SignInMethod? {
        section.allow(methodKeys)
        refuse(
            ["before", "challenge", "first", "request", "needs_password", "next"], in: section,
            expected: "nothing: a key is not requested from the provider")
        let kind = section.word("kind", of: [SignInMethodInfo.key])
        let fields = section.list("fields").compactMap { stepField($0) }
        let names = PlaceholderNames.signIn(fields.map(\.step))
        let reply = section.section("reply").map(replyMap)
        let token = section.required("token", "the access token, made of the fields, such as \"{key}\"").flatMap {
            template($0, at: section.path("token"), names, section.problems)
        }
        let check = section.section("check").flatMap {
            request($0, names: names.with([TemplateValues.Name.accessToken]), bears: true)
        }
        guard kind != nil, let token else { return nil }
        if token.placeholders.allSatisfy({ $0 == TemplateValues.Name.environment }) {
            section.problems.add(
                section.path("token"), expected: "a text with a field, such as {key}", found: token.text)
        }
        checkNames(fields.map(\.step.name), [check].compactMap(\.self), section, also: token)
        var method = SignInMethod(
            name: name, label: section.string("label") ?? name, fields: fields.map(\.step),
            rules: Dictionary(fields.map { ($0.step.name, $0.rules) }) { $1 })
        method.key = SignInKey(token: token, check: check)
        method.reply = reply
        return method
    }

    /// A key must not be stored before the provider has accepted it.
    static func checkKeys(_ root: TOMLSection, _ profile: ProviderProfile) {
        for method in profile.signIn {
            guard let key = method.key, profile.check(of: key) == nil else { continue }
            root.problems.add(
                "sign_in.\(method.name).check",
                expected:
                    "a request that checks the key, here or as [user_request] or [validation] with no placeholders but "
                    + "{access_token} and {environment}", found: "nothing")
        }
    }

    static func checkNames(
        _ names: [String], _ requests: [RequestTemplate], _ section: TOMLSection, also template: Template? = nil
    ) {
        for (index, name) in names.enumerated() {
            let path = TOMLPath.element(section.path("fields"), index)
            if names[..<index].contains(name) {
                section.problems.add(TOMLPath.join(path, "name"), expected: "a unique name", found: name)
            } else if template?.placeholders.contains(name) != true,
                !requests.contains(where: { ProviderProfile.uses($0, field: name) })
            {
                section.problems.add(
                    TOMLPath.join(path, "name"), expected: "a field that the request sends, as {\(name)}", found: name)
            }
        }
    }

    private static func challenge(
        _ section: TOMLSection, _ fields: [StepField], _ names: inout PlaceholderNames
    ) -> Challenge? {
        section.allow("field", "request", "sent_to", "expires_seconds", "resend_seconds")
        let field = section.word("field", of: fields.map(\.name), isRequired: true)
        let sentTo = section.string("sent_to").flatMap {
            template($0, at: section.path("sent_to"), names, section.problems)
        }
        let request = capturingRequest(section, &names, hiding: fields.map(\.name))
        let lifetime = section.integer("expires_seconds", in: seconds).map { Duration.seconds($0) }
        let pause = section.integer("resend_seconds", in: seconds).map { Duration.seconds($0) }
        guard let field, let request else { return nil }
        return Challenge(
            field: field, request: request, sentTo: sentTo, lifetime: lifetime, pause: pause ?? Challenge.usualPause)
    }

    private static func firstRequest(
        _ section: TOMLSection, _ names: inout PlaceholderNames, _ fields: [String]
    ) -> FirstRequest? {
        section.allow("request", "existing_statuses")
        let statuses = section.integers("existing_statuses") ?? []
        for (index, status) in statuses.enumerated() where !(400...499).contains(status) || status == 429 {
            section.problems.add(
                TOMLPath.element(section.path("existing_statuses"), index),
                expected: "a status from 400 to 499 that is not 429", found: String(status))
        }
        return capturingRequest(section, &names, hiding: fields).map {
            FirstRequest(request: $0, existingStatuses: Set(statuses))
        }
    }

    static func stepField(
        _ section: TOMLSection, mayChoose: Bool = false
    ) -> (step: StepField, rules: [FieldRule])? {
        section.allow(
            "name", "label", "kind", "secret", "optional", "default", "min_length", "needs", "one_of", "digits",
            "issuers", "choices")
        if !mayChoose {
            refuse(["choices"], in: section, expected: "it in a step (next): the choices are in its response")
        }
        let expected = "a field's name: letters, digits and _, beginning with a letter, and not environment"
        let kind = section.word("kind", of: FieldKind.all)
        let rules = rules(section, kind: kind)
        guard let name = section.required("name", expected) else { return nil }
        guard isPlaceholderName(name) else {
            section.problems.add(section.path("name"), expected: expected, found: name)
            return nil
        }
        let isSecret = section.bool("secret") ?? kind.map(FieldKind.secret.contains) ?? false
        if isSecret, section.has("default") {
            section.problems.add(section.path("default"), expected: "no default: the field is secret", found: "one")
        }
        let step = StepField(
            name: name, label: section.string("label") ?? name, secret: isSecret,
            optional: section.bool("optional") ?? false, kind: kind,
            rules: rules.isEmpty ? nil : rules.map(\.requirement),
            value: isSecret ? nil : section.string("default"))
        return (step, rules)
    }

    /// A valid placeholder that has no other meaning.
    static func isPlaceholderName(_ name: String) -> Bool {
        guard name != TemplateValues.Name.environment, !name.contains(".") else { return false }
        return (try? Template(parsing: "{\(name)}").placeholders) == [name]
    }

    private static func rules(_ section: TOMLSection, kind: String?) -> [FieldRule] {
        var rules: [FieldRule] = kind == FieldKind.email ? [.email] : []
        if kind == FieldKind.idToken { rules.append(.idToken(issuers: section.strings("issuers") ?? [])) }
        if kind != FieldKind.idToken, section.has("issuers") {
            section.problems.add(section.path("issuers"), expected: "kind id-token with it", found: kind ?? "none")
        }
        if let count = section.integer("digits", in: digits) { rules.append(.digits(count: count)) }
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

internal import AuthConfiguration
package import AuthModel
internal import AuthWire

/// Reads a provider profile from TOML. Docs/profiles.md describes the language.
package enum ProfileReader {
    /// - Parameter source: the file's name in problems, and the profile's `source`.
    /// - Throws: all problems of the profile.
    package static func read(_ text: String, source: String) throws(ProfileProblems) -> ProviderProfile {
        let root = try TOMLDocument.read(text, file: source)
        let profile = isOAuth(root) ? oauthProfile(root, source: source) : profile(root, source: source)
        guard let profile, root.problems.problems.isEmpty else { throw ProfileProblems(root.problems.problems) }
        return profile
    }

    private static func profile(_ root: TOMLSection, source: String) -> ProviderProfile? {
        root.allow(
            "name", "title", "allow_insecure_http", "cookies", "environments", "default_environment", "hosts",
            "headers",
            "authorization", "sign_in", "password", "reply", "errors", "user", "renewal", "validation", "user_request",
            "user_update", "sign_out", "api", "endpoints")
        let name = name(root)
        let insecure = root.bool("allow_insecure_http") ?? false
        let environments = environments(root, insecure: insecure)
        let methods = signInMethods(root)
        let reply = root.section("reply").map(replyMap) ?? ResponseMap()
        let user = root.section("user").map(userMap) ?? UserMap()
        let renewalReply = root.tableIfAny("renewal")?.section("reply").map(replyMap)
        let names = PlaceholderNames.session(
            replies: [reply] + methods.compactMap(\.reply) + [renewalReply].compactMap(\.self), user: user)
        let renewal = renewal(root, reply: renewalReply, methods: methods, names: names)
        var profile = ProviderProfile(
            name: name, title: root.string("title") ?? name, source: source, environments: environments,
            defaultEnvironment: defaultEnvironment(root, of: environments), signIn: methods,
            renewal: renewal ?? Renewal(kind: .none))
        profile.allowInsecureHTTP = insecure
        profile.keepsCookies = root.bool("cookies") ?? false
        profile.password = passwordMethods(root, session: names)
        profile.reply = reply
        profile.user = user
        profile.validation = root.section("validation").flatMap { request($0, names: names) }
        if let section = root.section("sign_out") {
            profile.signOut = request(section, names: names, beside: ["success"])
            profile.signOutSuccess = section.section("success").flatMap(rule)
        }
        readCommonParts(root, names: names, into: &profile)
        checkTokenPlace(root, profile)
        checkTokenIsFound(root, profile)
        checkKeys(root, profile)
        checkCodes(root, profile)
        return renewal == nil ? nil : profile
    }

    /// The parts that profiles with and without OAuth have.
    static func readCommonParts(_ root: TOMLSection, names: PlaceholderNames, into profile: inout ProviderProfile) {
        profile.headers = headers(root, names: names)
        profile.tokenPlace = tokenPlace(root, names: names)
        profile.errors = root.section("errors").map(errorMap) ?? ErrorMap()
        profile.userRequest = userRequest(root, names: names)
        profile.userUpdate = userUpdate(root, names: names)
        profile.endpoints = endpoints(root, names: names)
        profile.api = apiRules(root)
        profile.hosts = hosts(root, of: profile)
        checkHosts(root, profile)
        profile.notes = notes(root, profile)
    }

    static func name(_ root: TOMLSection) -> String {
        let name = root.required("name", "the provider's name, \(SessionName.rule)") ?? ""
        if !name.isEmpty, (try? SessionName(name)) == nil {
            root.problems.add("name", expected: "the provider's name, \(SessionName.rule)", found: name)
        }
        return name
    }

    // MARK: Environments

    static func environments(_ root: TOMLSection, insecure: Bool) -> [ProviderEnvironment] {
        guard let section = root.requiredTable("environments", "a table of names and base URLs") else { return [] }
        return section.keysInOrder.compactMap { name in
            section.string(name).flatMap { url in
                environment(name, url, at: section.path(name), insecure: insecure, problems: root.problems)
            }
        }
    }

    /// Reads environments from the settings, too.
    static func environment(
        _ name: String, _ url: String, at path: String, insecure: Bool, problems: ProblemList
    ) -> ProviderEnvironment? {
        if (try? SessionName(name)) == nil {
            problems.add(path, expected: "an environment's name, \(SessionName.rule)", found: name)
            return nil
        }
        do throws(BaseURLError) {
            let base = try BaseURL(url)
            // Plain http sends passwords and tokens unencrypted.
            if !base.isSecure, !base.isLoopback, !insecure {
                problems.add(
                    path, expected: "https: http is allowed for this machine only (or allow_insecure_http = true)",
                    found: url)
            }
            return ProviderEnvironment(name: name, baseURL: base.text)
        } catch {
            // The part before an @ may be a password. Bytes: an @ with a combining mark is another character.
            let mayHavePassword = url.utf8.contains(UInt8(ascii: "@"))
            problems.add(path, expected: error.expected, found: mayHavePassword ? "one with an @" : url)
            return nil
        }
    }

    static func defaultEnvironment(_ root: TOMLSection, of environments: [ProviderEnvironment]) -> String {
        guard let name = root.string("default_environment") else { return environments.first?.name ?? "" }
        if !environments.contains(where: { $0.name == name }) {
            root.problems.add(
                "default_environment", expected: Suggestion.oneOf(environments.map(\.name), insteadOf: name),
                found: name)
        }
        return name
    }

    // MARK: Renewal and user

    private static func renewal(
        _ root: TOMLSection, reply: ResponseMap?, methods: [SignInMethod], names: PlaceholderNames
    ) -> Renewal? {
        guard let section = root.requiredTable("renewal", "a table that defines the renewal") else { return nil }
        section.allow("kind", "method", "request", "reply", "final_statuses", "final_codes")
        let kind = section.word("kind", of: Renewal.Kind.allCases.map(\.rawValue), isRequired: true)
        guard let kind = kind.flatMap(Renewal.Kind.init) else { return nil }
        var renewal = Renewal(kind: kind, reply: reply)
        switch kind {
        case .refresh, .validate: renewal.request = requiredRequest(section, names: names)
        case .signIn, .none:
            if section.has("request") {
                section.problems.add(
                    section.path("request"), expected: "no request: renewal is of kind \(kind.rawValue)",
                    found: "one")
            }
        }
        if kind == .signIn {
            renewal.method = repeatedMethod(section, methods)
        } else if section.has("method") {
            section.problems.add(
                section.path("method"), expected: "no method: renewal is of kind \(kind.rawValue)", found: "one")
        }
        if let statuses = section.integers("final_statuses") {
            for (index, status) in statuses.enumerated() where !(400...499).contains(status) || status == 429 {
                section.problems.add(
                    TOMLPath.element(section.path("final_statuses"), index),
                    expected: "a status from 400 to 499 that is not 429", found: String(status))
            }
            renewal.finalStatuses = Set(statuses)
        }
        renewal.finalCodes = Set(section.strings("final_codes") ?? [])
        return renewal
    }

    /// A sign-in that is repeated without the user must not need the user.
    private static func repeatedMethod(_ section: TOMLSection, _ methods: [SignInMethod]) -> String? {
        let name = section.has("method") ? section.word("method", of: methods.map(\.name)) : methods.first?.name
        guard let method = methods.first(where: { $0.name == name }) else { return nil }
        let reason: String? =
            if method.challenge != nil {
                "a method without a challenge: nobody can answer it"
            } else if method.key != nil {
                "a method with a request: a key has none"
            } else if method.needsFirst {
                "a method that needs nothing of the response to `first`, which is not repeated"
            } else {
                nil
            }
        if let reason {
            section.problems.add(section.path("method"), expected: reason, found: method.name)
        }
        return name
    }

    static func userUpdate(_ root: TOMLSection, names: PlaceholderNames) -> UserUpdateRequest? {
        guard let section = root.section("user_update") else { return nil }
        section.allow("user", "fields", "request")
        let fields = section.strings("fields") ?? []
        if fields.isEmpty {
            section.problems.add(
                section.path("fields"), expected: "a list of members that can be changed", found: "nothing")
        }
        let user = pointers(section, "user")
        return requiredRequest(section, names: names).map { UserUpdateRequest(request: $0, fields: fields, user: user) }
    }

    static func userRequest(_ root: TOMLSection, names: PlaceholderNames) -> UserRequest? {
        guard let section = root.section("user_request") else { return nil }
        section.allow("user", "request")
        let user = section.has("user") ? pointers(section, "user") : [.whole]
        return requiredRequest(section, names: names).map { UserRequest(request: $0, user: user) }
    }

    /// A sign-in without a token is useless, and so is a renewal.
    private static func checkTokenIsFound(_ root: TOMLSection, _ profile: ProviderProfile) {
        // An invalid pointer has been reported already.
        guard root.tableIfAny("reply")?.has("access_token") != true else { return }
        for method in profile.signIn where method.reply?.accessToken == nil && method.key == nil {
            root.problems.add(
                "reply.access_token", expected: "a JSON Pointer to the token, here or in sign_in.\(method.name).reply",
                found: "nothing")
        }
        if profile.renewal.kind == .refresh, profile.renewal.reply?.accessToken == nil {
            root.problems.add(
                "renewal.reply.access_token", expected: "a JSON Pointer to the new token, here or in reply",
                found: "nothing")
        }
    }
}

internal import AuthConfiguration
internal import AuthModel
internal import AuthWire

/// Calls of the provider's API.
extension ProfileReader {
    /// Seconds of `cache_seconds`: at most a year.
    private static let cacheSeconds = 0...31_536_000

    private static let besideRequest = ["about", "args", "cache_seconds", "pages", "answer_as_read", "clears"]

    static func apiRules(_ root: TOMLSection) -> APIRules {
        guard let section = root.section("api") else { return APIRules() }
        section.allow("cache_seconds", "waits_for_connectivity", "next")
        var rules = APIRules(
            cache: section.integer("cache_seconds", in: cacheSeconds).map { .seconds($0) },
            waitsForConnectivity: section.bool("waits_for_connectivity") ?? false)
        rules.next = pointers(section, "next")
        return rules
    }

    static func endpoints(_ root: TOMLSection, names: PlaceholderNames) -> [Endpoint] {
        guard let section = root.section("endpoints") else { return [] }
        let known = section.keysInOrder
        return known.compactMap { name in
            if (try? SessionName(name)) == nil {
                root.problems.add(section.path(name), expected: "an endpoint's name, \(SessionName.rule)", found: name)
            }
            return section.section(name).flatMap { endpoint(name, $0, session: names, among: known) }
        }
    }

    private static func endpoint(
        _ name: String, _ section: TOMLSection, session: PlaceholderNames, among known: [String]
    ) -> Endpoint? {
        let arguments = arguments(section, session: session)
        let names = PlaceholderNames(names: arguments.map(\.name) + session.names)
        let files = arguments.filter { $0.type == .file }.map(\.name)
        guard let request = request(section, names: names, bears: true, files: files, beside: besideRequest) else {
            return nil
        }
        var endpoint = Endpoint(name: name, request: request, arguments: arguments)
        endpoint.about = section.string("about")
        let isRead = request.method == "GET"
        endpoint.cache = onlyIf(isRead, "cache_seconds", section, "no such key: it is for a GET only") {
            section.integer("cache_seconds", in: cacheSeconds).map { .seconds($0) }
        }
        endpoint.pages = onlyIf(isRead, "pages", section, "no such key: it is for a GET only") {
            section.section("pages").flatMap { pages($0, arguments: arguments) }
        }
        endpoint.answersAsRead =
            onlyIf(!isRead, "answer_as_read", section, "no such key: a GET cannot have it") {
                section.bool("answer_as_read")
            }
            ?? false
        endpoint.clears =
            onlyIf(!isRead, "clears", section, "no such key: a GET cannot have it") {
                cleared(section, among: known)
            } ?? []
        EndpointPlaces(endpoint: endpoint, section: section).check()
        return endpoint
    }

    private static func onlyIf<Value>(
        _ allowed: Bool, _ key: String, _ section: TOMLSection, _ expected: String, _ read: () -> Value?
    ) -> Value? {
        guard section.has(key), !allowed else { return read() }
        section.problems.add(section.path(key), expected: expected, found: "one")
        return nil
    }

    private static func cleared(_ section: TOMLSection, among known: [String]) -> [String] {
        let names = section.strings("clears") ?? []
        for (index, name) in names.enumerated() where !known.contains(name) {
            section.problems.add(
                TOMLPath.element(section.path("clears"), index), expected: "an endpoint of this profile", found: name)
        }
        return names
    }

    // MARK: Arguments

    private static let types = ArgumentType.allCases.map(\.rawValue) + ["secret"]

    private static func arguments(_ section: TOMLSection, session: PlaceholderNames) -> [EndpointArgument] {
        guard let table = section.section("args") else { return [] }
        return table.keysInOrder.compactMap { name in
            guard isArgumentName(name), !session.names.contains(name) else {
                table.problems.add(
                    table.path(name),
                    expected: "a name of letters, digits and _ that is not one of "
                        + session.names.map { "{\($0)}" }.joined(separator: ", "), found: name)
                return nil
            }
            return table.table[name]?.type == .string
                ? shortArgument(name, table) : table.section(name).map { longArgument(name, $0, session) }
        }
    }

    /// `"integer"`, or `"integer?"` if it is optional.
    private static func shortArgument(_ name: String, _ table: TOMLSection) -> EndpointArgument? {
        guard let text = table.string(name) else { return nil }
        let isOptional = text.hasSuffix("?")
        let word = isOptional ? String(text.dropLast()) : text
        guard types.contains(word) else {
            let expected = "one of \(types.joined(separator: ", ")), with a ? if it is optional"
            table.problems.add(table.path(name), expected: expected, found: text)
            return nil
        }
        return argument(name, word, optional: isOptional)
    }

    private static func longArgument(
        _ name: String, _ section: TOMLSection, _ session: PlaceholderNames
    ) -> EndpointArgument {
        section.allow("type", "optional", "about", "default", "trim")
        var argument = argument(
            name, section.word("type", of: types) ?? "text", optional: section.bool("optional") ?? false)
        argument.about = section.string("about")
        argument.trims = section.bool("trim") ?? false
        if argument.trims, argument.type != .text {
            section.problems.add(section.path("trim"), expected: "no such key: it is for type text only", found: "one")
        }
        argument.fallback = section.string("default").flatMap {
            template($0, at: section.path("default"), session, section.problems)
        }
        return argument
    }

    private static func argument(_ name: String, _ word: String, optional: Bool) -> EndpointArgument {
        var argument = EndpointArgument(
            name: name, type: ArgumentType(rawValue: word) ?? .text, optional: optional)
        argument.secret = word == "secret"
        return argument
    }

    private static func isArgumentName(_ name: String) -> Bool {
        !name.contains(".") && (try? Template(parsing: "{\(name)}").placeholders) == [name]
    }

    // MARK: Pages

    private static func pages(_ section: TOMLSection, arguments: [EndpointArgument]) -> PageRule? {
        section.allow("items", "more", "number", "first", "next", "cursor")
        guard section.has("items"), let items = pointer(section, "items") else {
            if !section.has("items") {
                section.problems.add(section.path("items"), expected: "a JSON Pointer to the list", found: "nothing")
            }
            return nil
        }
        if section.has("cursor") {
            guard let next = pointer(section, "next"), let cursor = argument(section, "cursor", arguments) else {
                section.problems.add(section.path, expected: "next (a JSON Pointer) and cursor (an argument) together")
                return nil
            }
            return PageRule(items: items, next: .cursor(argument: cursor, at: next))
        }
        guard ["more", "number", "first"].contains(where: section.has) else {
            return PageRule(items: items, next: .address(at: pointers(section, "next")))
        }
        guard !section.has("next"), let more = pointer(section, "more"),
            let number = argument(section, "number", arguments)
        else {
            section.problems.add(
                section.path,
                expected: "more (a JSON Pointer to a boolean) and number (an argument), or next, or neither")
            return nil
        }
        let first = section.integer("first", in: 0...1) ?? 1
        return PageRule(items: items, next: .counted(argument: number, first: Int64(first), more: more))
    }

    private static func argument(_ section: TOMLSection, _ key: String, _ arguments: [EndpointArgument]) -> String? {
        section.word(key, of: arguments.filter { $0.optional || $0.fallback != nil }.map(\.name))
    }
}

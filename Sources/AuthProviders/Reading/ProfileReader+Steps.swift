internal import AuthConfiguration
internal import AuthModel
internal import AuthWire

/// What a sign-in does after its responses: captured values and steps.
extension ProfileReader {
    private static let statuses = 200...599
    /// Nobody waits for longer than a day.
    private static let seconds = 1...86_400

    // MARK: Captures

    /// - Parameter fields: names that a captured value must not have.
    static func captures(_ section: TOMLSection, hiding fields: [String]) -> [Capture] {
        guard let table = section.section("capture") else { return [] }
        return table.keysInOrder.compactMap { name in
            guard isPlaceholderName(name), !fields.contains(name) else {
                table.problems.add(
                    table.path(name),
                    expected:
                        "a name for the value: letters, digits and _, beginning with a letter, not environment and not a "
                        + "field's", found: name)
                return nil
            }
            return place(table, name).map { Capture(name: name, place: $0) }
        }
    }

    /// A request of a sign-in, with the values that its response is captured for.
    /// - Parameters:
    ///   - fields: names that a captured value must not have.
    ///   - names: grows by those that are captured.
    static func capturingRequest(
        _ section: TOMLSection, _ names: inout PlaceholderNames, mayBear: Bool = false, hiding fields: [String]
    ) -> RequestTemplate? {
        var request = requiredRequest(section, names: names, mayBear: mayBear, mayCapture: true)
        if let table = section.tableIfAny("request") { request?.captures = captures(table, hiding: fields) }
        names = names.with(request?.captures.map(\.name) ?? [])
        return request
    }

    /// The requests of `before`. Each list element is a request.
    static func before(_ section: TOMLSection, _ names: inout PlaceholderNames, hiding fields: [String])
        -> [RequestTemplate]
    {
        section.list("before").compactMap { element in
            var request = Self.request(element, names: names, mayBear: false, mayCapture: true)
            request?.captures = captures(element, hiding: fields)
            names = names.with(request?.captures.map(\.name) ?? [])
            return request
        }
    }

    // MARK: Steps

    /// - Parameter fields: of the method.
    static func steps(_ section: TOMLSection, _ names: PlaceholderNames, _ fields: [StepField]) -> [SignInStep] {
        let sections = section.list("next")
        // A step can use what an earlier one in the file has captured, or its own response.
        var names = names
        return sections.compactMap { step($0, &names, fields.map(\.name)) }
    }

    private static func step(
        _ section: TOMLSection, _ names: inout PlaceholderNames, _ known: [String]
    ) -> SignInStep? {
        section.allow("when", "fields", "message", "capture", "request", "reply", "poll")
        let rule = section.section("when").flatMap(rule)
        if !section.has("when") {
            section.problems.add(section.path("when"), expected: "a table: status, code, or place", found: "nothing")
        }
        let fields = section.list("fields").compactMap { field($0, known) }
        let own = fields.map(\.step.name)
        let captures = captures(section, hiding: known + own)
        names = names.with(captures.map(\.name))
        var ownNames = names.with(own)
        let request = capturingRequest(section, &ownNames, hiding: known + own)
        names = names.with(request?.captures.map(\.name) ?? [])
        let poll = section.section("poll").flatMap(poll)
        if poll != nil, !fields.isEmpty {
            section.problems.add(
                section.path("fields"), expected: "no fields: a step with poll waits without asking", found: "some")
        }
        guard let rule, let request else { return nil }
        checkNames(own, [request], section)
        return SignInStep(
            rule: rule, fields: fields.map(\.step), rules: Dictionary(fields.map { ($0.step.name, $0.rules) }) { $1 },
            choices: Dictionary(fields.compactMap { field in field.choices.map { (field.step.name, $0) } }) { $1 },
            message: message(section), captures: captures, request: request,
            reply: section.section("reply").map(replyMap), poll: poll)
    }

    private static func field(
        _ section: TOMLSection, _ known: [String]
    ) -> (step: StepField, rules: [FieldRule], choices: ChoiceList?)? {
        guard let (step, rules) = stepField(section, mayChoose: true) else { return nil }
        if known.contains(step.name) {
            section.problems.add(
                section.path("name"), expected: "a name that no field of the method has", found: step.name)
        }
        return (step, rules, section.section("choices").flatMap(choices))
    }

    private static func choices(_ section: TOMLSection) -> ChoiceList? {
        section.allow("list", "value", "label")
        for key in ["list", "value"] where !section.has(key) {
            section.problems.add(section.path(key), expected: "a JSON Pointer, \"\" for all of it", found: "nothing")
        }
        guard let list = pointer(section, "list"), let value = pointer(section, "value") else { return nil }
        return ChoiceList(list: list, value: value, label: pointer(section, "label"))
    }

    /// A text that begins with a slash is a pointer.
    private static func message(_ section: TOMLSection) -> StepMessage? {
        guard let text = section.string("message") else { return nil }
        return text.hasPrefix("/") ? pointer(section, "message").map(StepMessage.pointer) : .text(text)
    }

    private static func poll(_ section: TOMLSection) -> StepPoll? {
        section.allow("every_seconds", "expires_seconds", "pending")
        for key in ["every_seconds", "expires_seconds"] where !section.has(key) {
            section.problems.add(section.path(key), expected: "a whole number of seconds", found: "nothing")
        }
        let pending = section.section("pending").flatMap(rule)
        guard let every = section.integer("every_seconds", in: seconds),
            let end = section.integer("expires_seconds", in: seconds)
        else { return nil }
        return StepPoll(interval: .seconds(every), lifetime: .seconds(end), pending: pending)
    }

    static func rule(_ section: TOMLSection) -> ResponseRule? {
        section.allow("status", "code", "place", "equals", "exists")
        var rule = ResponseRule()
        if section.table["status"]?.type == .array {
            let found = section.integers("status") ?? []
            for (index, status) in found.enumerated() where !statuses.contains(status) {
                section.problems.add(
                    TOMLPath.element(section.path("status"), index), expected: "a status from 200 to 599",
                    found: String(status))
            }
            rule.statuses = Set(found)
        } else if let status = section.integer("status", in: statuses) {
            rule.statuses = [status]
        }
        rule.codes = Set(section.strings("code") ?? [])
        rule.place = place(section, "place")
        if section.has("place"), section.has("equals") == section.has("exists") {
            section.problems.add(
                section.path("place"), expected: "either equals or exists beside it",
                found: section.has("equals") ? "both" : "neither")
        }
        for key in ["equals", "exists"] where section.has(key) && !section.has("place") {
            section.problems.add(section.path(key), expected: "place beside it", found: "none")
        }
        if let exists = section.bool("exists") { rule.value = exists ? .exists : .missing }
        if section.has("equals") { rule.value = .equals(values(section, "equals")) }
        if section.table.isEmpty {
            section.problems.add(section.path, expected: "status, code, or place", found: "an empty table")
            return nil
        }
        return rule
    }

    /// A text, a whole number or a boolean, or a list of them.
    private static func values(_ section: TOMLSection, _ key: String) -> [JSON] {
        guard let found = section.table[key] else { return [] }
        let elements = found.array.map { Array($0) } ?? [found]
        return elements.compactMap { element in
            switch element.type {
            case .string: return element.string.map(JSON.string)
            case .int: return element.int.map { .integer(Int64($0)) }
            case .bool: return element.bool.map(JSON.bool)
            default:
                section.problems.add(
                    section.path(key), expected: "a text, a whole number, true, false, or a list of them",
                    found: element.type.description)
                return nil
            }
        }
    }

    /// A rule for codes needs to know where they are.
    static func checkCodes(_ root: TOMLSection, _ profile: ProviderProfile) {
        guard profile.errors.code == nil, root.tableIfAny("errors")?.has("code") != true else { return }
        for method in profile.signIn + profile.password.values {
            for (index, step) in method.next.enumerated() {
                let rules = [step.rule, step.poll?.pending].compactMap(\.self)
                guard rules.contains(where: { !$0.codes.isEmpty }) else { continue }
                let table = profile.signIn.contains(method) ? "sign_in" : "password"
                root.problems.add(
                    TOMLPath.element("\(table).\(method.name).next", index) + ".when.code",
                    expected: "errors.code, which says where a response has its code", found: "nothing")
            }
        }
    }
}

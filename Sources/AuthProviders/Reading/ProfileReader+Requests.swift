internal import AuthConfiguration
internal import AuthModel
internal import AuthWire

/// Requests in a profile.
extension ProfileReader {
    private static let methods = ["GET", "POST", "PUT", "PATCH", "DELETE"]

    /// Headers that only the transport may set (RFC 9110 §7.6.1, §8.6, §7.2).
    static let forbiddenHeaders = [
        "connection", "content-length", "expect", "host", "proxy-authorization", "te", "trailer", "transfer-encoding",
        "upgrade",
    ]

    static func requiredRequest(
        _ section: TOMLSection, names: PlaceholderNames, mayBear: Bool = true, mayCapture: Bool = false
    ) -> RequestTemplate? {
        guard let request = section.section("request") else {
            if !section.has("request") {
                section.problems.add(section.path("request"), expected: "a table: method, path, …", found: "nothing")
            }
            return nil
        }
        return Self.request(request, names: names, mayBear: mayBear, mayCapture: mayCapture)
    }

    /// - Parameters:
    ///   - mayBear: whether there is an access token.
    ///   - mayCapture: whether later requests can use values of the response.
    ///   - bears: whether it is sent if the section does not say.
    ///   - files: the arguments that are files; `nil`: there are no arguments.
    ///   - more: further keys of the section.
    static func request(
        _ section: TOMLSection, names: PlaceholderNames, mayBear: Bool = true, mayCapture: Bool = false,
        bears: Bool = false, files: [String]? = nil, beside more: [String] = []
    ) -> RequestTemplate? {
        section.allow(
            ["method", "host", "path", "query", "headers", "bearer", "basic", "body", "form", "multipart"]
                + (more.isEmpty ? ["capture"] : []) + more)
        if section.has("capture"), !mayCapture {
            section.problems.add(
                section.path("capture"), expected: "it in a sign-in: no other request uses the values", found: "one")
        }
        let method = section.word("method", of: methods, isRequired: true)
        let path = path(section, names)
        let basic = section.section("basic").flatMap { self.basic($0, names) }
        let bearer = section.bool("bearer") ?? (bears && !section.has("basic"))
        if bearer, !mayBear {
            section.problems.add(
                section.path("bearer"), expected: "false: a sign-in has no token yet", found: "true")
        }
        let headers = headers(section, names: names)
        if bearer || section.has("basic"),
            let header = headers.first(where: { $0.name.lowercased() == "authorization" })
        {
            section.problems.add(
                TOMLPath.join(section.path("headers"), header.name),
                expected: "no such header with " + (bearer ? "bearer = true" : "basic"))
        }
        if bearer, section.has("basic") {
            section.problems.add(
                section.path("basic"), expected: "no name and password with bearer = true", found: "some")
        }
        let body = requestBody(section, method: method, names, files)
        if case .parts = body, let own = headers.first(where: { $0.name.lowercased() == "content-type" }) {
            section.problems.add(
                TOMLPath.join(section.path("headers"), own.name),
                expected: "no such header with multipart: it has the boundary", found: "one")
        }
        guard let method, let path else { return nil }
        var request = RequestTemplate(
            method: method, path: path, query: fields(section, "query", names: names), headers: headers,
            bearer: bearer, body: body)
        if let basic { request.authorization = basic }
        request.host = section.string("host")
        return request
    }

    /// RFC 7617.
    private static func basic(_ section: TOMLSection, _ names: PlaceholderNames) -> RequestAuthorization? {
        section.allow("user", "password")
        let expected = "a name and a password: basic = { user = \"{user}\", password = \"{password}\" }"
        let texts = ["user", "password"].map { key in
            section.required(key, expected).flatMap { template($0, at: section.path(key), names, section.problems) }
        }
        guard let user = texts[0], let password = texts[1] else { return nil }
        // Bytes: a colon with a combining mark is another character, but a server still sees the colon.
        if user.literals.contains(where: { $0.utf8.contains(UInt8(ascii: ":")) }) {
            section.problems.add(section.path("user"), expected: "a name without ':' (RFC 7617 §2)", found: user.text)
        }
        return .basic(user: user, password: password)
    }

    private static let bodyKeys = ["body", "form", "multipart"]

    private static func requestBody(
        _ section: TOMLSection, method: String?, _ names: PlaceholderNames, _ files: [String]?
    ) -> RequestBody? {
        let given = bodyKeys.filter(section.has)
        for key in given where method == "GET" {
            section.problems.add(section.path(key), expected: "no body in a GET (RFC 9110 §9.3.1)", found: "one")
        }
        for key in given.dropFirst() {
            section.problems.add(
                section.path(key), expected: "one body only: \(given[0]) is one already", found: "another")
        }
        if section.has("form") { return .form(form(section, names)) }
        if section.has("multipart") {
            let parts = parts(section, names, files)
            return parts.isEmpty ? nil : .parts(parts)
        }
        let body = section.table["body"].flatMap {
            Self.body($0, at: section.path("body"), names, section.problems)
        }
        checkBody(body, section)
        return body.map(RequestBody.json)
    }

    /// A value, or a list of values that have the same name.
    private static func form(_ section: TOMLSection, _ names: PlaceholderNames) -> [TemplateField] {
        guard let table = section.section("form") else { return [] }
        return table.keysInOrder.flatMap { name in
            guard let found = table.table[name] else { return [TemplateField]() }
            let elements = found.array.map { Array($0) }
            return (elements ?? [found]).enumerated().compactMap { index, element in
                let path = elements == nil ? table.path(name) : TOMLPath.element(table.path(name), index)
                return formValue(element, at: path, names, section.problems).map {
                    TemplateField(name: name, value: $0)
                }
            }
        }
    }

    private static func formValue(
        _ value: TOMLNode, at path: String, _ names: PlaceholderNames, _ problems: ProblemList
    ) -> Template? {
        switch value.type {
        case .string: return value.string.flatMap { template($0, at: path, names, problems) }
        case .int: return value.int.map { Template(literal: String($0)) }
        case .bool: return value.bool.map { Template(literal: String($0)) }
        default:
            problems.add(
                path, expected: "a text, whole number, true, false, or a list of them: a form has no other values",
                found: value.type.description)
            return nil
        }
    }

    private static func parts(
        _ section: TOMLSection, _ names: PlaceholderNames, _ files: [String]?
    ) -> [PartTemplate] {
        if let list = section.table["multipart"]?.array, Array(list).isEmpty {
            section.problems.add(section.path("multipart"), expected: "at least one part", found: "an empty list")
        }
        return section.list("multipart").compactMap { part in
            part.allow("name", "text", "file", "filename", "type")
            guard let name = part.required("name", "the part's name") else { return nil }
            if name.isEmpty || !isHeaderText(name) {
                part.problems.add(
                    part.path("name"), expected: "a name without control characters",
                    found: name.isEmpty ? "an empty text" : "one with some")
            }
            let fileName = part.string("filename").flatMap {
                template($0, at: part.path("filename"), names, part.problems)
            }
            if let fileName, !fileName.literals.allSatisfy(isHeaderText) {
                part.problems.add(
                    part.path("filename"), expected: "a name without control characters", found: "one with some")
            }
            let type = part.string("type")
            if let type, !isMediaType(type) {
                part.problems.add(
                    part.path("type"), expected: "a media type, such as image/jpeg (RFC 9110 §8.3.1)",
                    found: "another text")
            }
            guard let content = content(part, names, files) else { return nil }
            return PartTemplate(name: name, content: content, fileName: fileName, type: type)
        }
    }

    private static func content(
        _ part: TOMLSection, _ names: PlaceholderNames, _ files: [String]?
    ) -> PartTemplate.Content? {
        guard part.has("text") != part.has("file") else {
            part.problems.add(part.path, expected: "either a text or a file in a part")
            return nil
        }
        guard part.has("file") else {
            return part.string("text").flatMap { template($0, at: part.path("text"), names, part.problems) }
                .map(PartTemplate.Content.text)
        }
        guard let files else {
            part.problems.add(
                part.path("file"), expected: "a text: only an endpoint has arguments for files", found: "a file")
            return nil
        }
        return part.word("file", of: files).map { .file(argument: $0) }
    }

    /// A body is sent as JSON. A single string is usually a mistake: a form, or a table in quotes.
    private static func checkBody(_ body: BodyTemplate?, _ section: TOMLSection) {
        let found: String? =
            switch body {
            case .text(let template) where template.solePlaceholder == nil: "a text"
            case .literal: "a single value"
            default: nil
            }
        guard let found else { return }
        section.problems.add(
            section.path("body"),
            expected: "a table or list, sent as JSON, or one placeholder for all of it (form = { … } sends a form)",
            found: found)
    }

    static func headers(_ section: TOMLSection, names: PlaceholderNames) -> [TemplateField] {
        let fields = fields(section, "headers", names: names)
        for field in fields {
            let path = TOMLPath.join(section.path("headers"), field.name)
            if !isHeaderName(field.name) {
                section.problems.add(path, expected: "a header's name (RFC 9110 §5.6.2)", found: field.name)
            } else if forbiddenHeaders.contains(field.name.lowercased()) {
                section.problems.add(
                    path, expected: "a header that the connection does not set itself", found: field.name)
            }
            if !field.value.literals.allSatisfy(isHeaderText) {
                section.problems.add(path, expected: "a header's value, without line breaks", found: "one with some")
            }
        }
        return fields
    }

    /// A table of templates: headers or a query.
    private static func fields(_ section: TOMLSection, _ key: String, names: PlaceholderNames) -> [TemplateField] {
        guard let table = section.section(key) else { return [] }
        return table.keysInOrder.compactMap { name in
            table.string(name)
                .flatMap { template($0, at: table.path(name), names, section.problems) }
                .map { TemplateField(name: name, value: $0) }
        }
    }

    private static func path(_ section: TOMLSection, _ names: PlaceholderNames) -> Template? {
        let expected = "a path that begins with /, percent-encoded, without query, fragment or .. (RFC 3986 §3.3)"
        guard let text = section.required("path", expected),
            let path = template(text, at: section.path("path"), names, section.problems)
        else { return nil }
        // A value can only add to a segment, so the rest of the path must be valid.
        guard text.hasPrefix("/"), PercentEncoding.isPath(path.filled(with: "x")) else {
            section.problems.add(section.path("path"), expected: expected, found: text)
            return nil
        }
        return path
    }

    static func template(
        _ text: String, at path: String, _ names: PlaceholderNames, _ problems: ProblemList
    ) -> Template? {
        let template: Template
        do throws(TemplateError) {
            template = try Template(parsing: text)
        } catch {
            problems.add(path, expected: error.expected, found: error.reason)
            return nil
        }
        for name in template.placeholders where !names.names.contains(name) {
            problems.add(path, expected: names.expected, found: "{\(name)}")
        }
        return template
    }

    private static func body(
        _ value: TOMLNode, at path: String, _ names: PlaceholderNames, _ problems: ProblemList
    ) -> BodyTemplate? {
        switch value.type {
        case .string: return value.string.flatMap { template($0, at: path, names, problems) }.map(BodyTemplate.text)
        case .int: return value.int.map { .literal(.integer(Int64($0))) }
        case .double where value.double?.isFinite == true: return value.double.map { .literal(.number($0)) }
        case .bool: return value.bool.map { .literal(.bool($0)) }
        case .array:
            let elements = value.array.map { Array($0) } ?? []
            return .array(
                elements.enumerated().compactMap { body($1, at: TOMLPath.element(path, $0), names, problems) })
        case .table:
            guard let table = value.table else { return nil }
            let section = TOMLSection(table: table, path: path, problems: problems)
            return .object(
                section.keysInOrder.compactMap { key in
                    table[key].flatMap { body($0, at: section.path(key), names, problems) }.map { (key, $0) }
                })
        case .date, .time, .dateTime, .double:
            problems.add(path, expected: "a JSON value: a string, number, true, false, list or table", found: "another")
            return nil
        }
    }

    /// RFC 9110 §5.6.2.
    static func isHeaderName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.allSatisfy { TOMLPath.isBare($0) || "!#$%&'*+.^`|~".utf8.contains($0) }
    }

    private static func isMediaType(_ text: String) -> Bool {
        let names = text.prefix { $0 != ";" && $0 != " " }.split(separator: "/", omittingEmptySubsequences: false)
        return names.count == 2 && names.allSatisfy { isHeaderName(String($0)) } && isHeaderText(text)
    }

    /// RFC 9110 §5.5.
    static func isHeaderText(_ text: String) -> Bool {
        text.utf8.allSatisfy { ($0 >= 0x20 && $0 != 0x7F) || $0 == UInt8(ascii: "\t") }
    }
}

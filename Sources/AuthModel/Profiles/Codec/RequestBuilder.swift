import AuthWire

/// Builds one request. A value never changes the structure around it: it is percent-encoded in a path, query or form, a JSON
/// string or a separate part in a body, and refused in a header if it contains a line break.
struct RequestBuilder {
    let profile: ProviderProfile
    let environment: ProviderEnvironment
    let values: TemplateValues
    /// `false`: the caller builds a multipart body, because one of its parts may be a stream.
    var buildsParts = true

    /// - Parameter members: added to the template's body, if that is an object, a form, multipart or missing.
    func build(_ template: RequestTemplate, adding members: JSONObject = JSONObject()) throws(AgentError) -> HTTPRequest
    {
        guard let path = template.path.fill(values, escaping: PercentEncoding.encode) else {
            throw missingValues(template.path)
        }
        for placeholder in template.path.values where !values.mayHoldSlash(placeholder.name) {
            guard placeholder.text(values).map(PercentEncoding.isOneSegment) ?? true else {
                throw AgentError(
                    .validation,
                    "The value of \(placeholder.name) contains a slash or backslash, and could lead to another path at "
                        + "\(profile.title): only arguments of the type `path`, and values that the provider itself has sent, "
                        + "may contain one. Nothing was sent.",
                    cause: "path")
            }
        }
        guard PercentEncoding.isPath(path) else {
            throw AgentError(
                .validation,
                "A value in the path contains a NUL, '.' or '..', and could lead to "
                    + "another path at \(profile.title). Nothing was sent.", cause: "path")
        }
        let address = try profile.address(of: template.host, in: environment)
        var request = HTTPRequest(method: template.method, url: address + path + query(template.query))
        request.carries = template.uses(profile.headers, isAnswer: values.isAnswer)
        if values[TemplateValues.Name.accessToken] == nil { request.carries.remove(.accessToken) }
        if values[TemplateValues.Name.refreshToken] == nil { request.carries.remove(.refreshToken) }
        let body = template.body ?? (members.isEmpty ? nil : .json(.object([])))
        let content = if let body { try content(body, adding: members) } else { nil as (bytes: Secret, type: String)? }
        request.headers = try headers(template, bodyType: content?.type)
        request.body = content?.bytes
        if template.bearer { try profile.tokenPlace.add(values, to: &request, for: profile.title) }
        return request
    }

    private func content(
        _ body: RequestBody, adding members: JSONObject
    ) throws(AgentError) -> (bytes: Secret, type: String)? {
        switch body {
        case .json(let template):
            guard var json = fill(template) else {
                throw AgentError(.validation, "The request to \(profile.title) has no value for its body.")
            }
            if case .object(var object) = json, !members.isEmpty {
                for (key, value) in members { object[key] = value }
                json = .object(object)
            }
            return (Secret(bytes: json.serialized()), "application/json")
        case .form(let template):
            var fields = template.filter { members[$0.name] == nil }
                .flatMap { field in texts(field.value).map { FormField(field.name, $0) } }
            for (name, value) in members { fields += value.formTexts.map { FormField(name, $0) } }
            return (Secret(Form.encode(fields)), Form.mediaType)
        case .parts(let templates):
            guard buildsParts else { return nil }
            var parts = try MultipartBody.parts(templates.filter { members[$0.name] == nil }, values)
            for (name, value) in members {
                parts += value.formTexts.map { MultipartBody.Part(name: name, content: .bytes(Array($0.utf8))) }
            }
            let body = MultipartBody(parts: parts, boundary: MultipartBody.newBoundary())
            return (Secret(bytes: try body.bytes().before), body.contentType)
        }
    }

    /// The values of one field of a form: one for each element of a list.
    private func texts(_ template: Template) -> [String] {
        if let list = template.solePlaceholder.flatMap(values.json), list.arrayValue != nil { return list.formTexts }
        return template.fill(values).map { [$0] } ?? []
    }

    private func query(_ fields: [TemplateField]) -> String {
        let pairs = fields.compactMap { field in
            field.value.fill(values).map {
                PercentEncoding.encode(field.name) + "=" + PercentEncoding.encode($0)
            }
        }
        return pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&")
    }

    /// A request's header replaces the profile's header of that name, and both replace the agent's.
    private func headers(_ template: RequestTemplate, bodyType: String?) throws(AgentError) -> [HTTPField] {
        var fields: [HTTPField] = []
        var names: Set<String> = []
        if case .basic(let user, let password) = template.authorization {
            fields.append(try basic(user, password))
            names.insert("authorization")
        }
        for header in template.headers + profile.headers {
            guard let value = header.value.fill(values), names.insert(header.name.lowercased()).inserted else {
                continue
            }
            fields.append(try field(header.name, value))
        }
        if names.insert("accept").inserted { fields.append(HTTPField("Accept", "application/json")) }
        if let bodyType, names.insert("content-type").inserted {
            fields.append(HTTPField("Content-Type", bodyType))
        }
        return fields
    }

    /// RFC 7617 §2, in UTF-8.
    private func basic(_ user: Template, _ password: Template) throws(AgentError) -> HTTPField {
        guard let name = user.fill(values) else { throw missingValues(user) }
        let pair = name + ":" + (password.fill(values) ?? "")
        guard !name.utf8.contains(UInt8(ascii: ":")), !pair.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw AgentError(
                .validation,
                "\(profile.title) expects a name and a password as HTTP Basic authentication: the name must not have a ':', "
                    + "and neither a control character (RFC 7617 §2). Nothing was sent.", cause: "basic")
        }
        return HTTPField("Authorization", "Basic " + Base64.encode(Array(pair.utf8)))
    }

    private func field(_ name: String, _ value: String) throws(AgentError) -> HTTPField {
        guard HeaderRules.isValue(value) else { throw HeaderRules.badValue("the header \(name)") }
        return HTTPField(name, value)
    }

    private func fill(_ body: BodyTemplate) -> JSON? {
        switch body {
        case .literal(let json): json
        case .text(let template):
            template.solePlaceholder.flatMap(values.json) ?? template.fill(values).map(JSON.string)
        case .array(let elements): .array(elements.compactMap(fill))
        case .object(let members): .object(object(members))
        }
    }

    private func object(_ members: [(name: String, value: BodyTemplate)]) -> JSONObject {
        var object = JSONObject()
        for member in members { object[member.name] = fill(member.value) }
        return object
    }

    private func missingValues(_ template: Template) -> AgentError {
        let names = template.placeholders.filter { values[$0] == nil }.joined(separator: ", ")
        return AgentError(.validation, "The request to \(profile.title) has no value for: \(names).")
    }
}

extension JSON {
    /// As values of a form: an element of a list each; an empty text is what comes nearest to null.
    fileprivate var formTexts: [String] {
        (arrayValue.map { Array($0) } ?? [self]).map { $0.isNull ? "" : $0.stringValue ?? $0.text() }
    }
}

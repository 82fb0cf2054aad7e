internal import AuthConfiguration
internal import AuthModel
internal import AuthWire

/// Checks that each argument of an endpoint is used at a place that its type allows.
struct EndpointPlaces {
    let endpoint: Endpoint
    let section: TOMLSection

    func check() {
        for argument in endpoint.arguments { check(argument) }
    }

    private func check(_ argument: EndpointArgument) {
        let name = argument.name
        let isInPath = endpoint.request.path.placeholders.contains(name)
        let isInQuery = endpoint.request.query.contains { $0.value.placeholders.contains(name) }
        let isInHeaders = endpoint.request.headers.contains { $0.value.placeholders.contains(name) }
        let isAlone = endpoint.request.body?.hasAlone(name) ?? false
        let isInText = endpoint.request.body?.hasInText(name) ?? false
        let isPart = endpoint.request.body?.hasInPart(name) ?? false
        let isInBasic = endpoint.request.authorization.placeholders.contains(name)
        guard isInBasic || isInPath || isInQuery || isInHeaders || isAlone || isInText || isPart else {
            return problem(name, "an argument that the request sends, as {\(name)}")
        }
        if isInPath, argument.optional {
            problem(name, "a required argument: the path would be another one without it")
        }
        if argument.secret, isInPath || isInQuery {
            problem(name, "an argument that is not secret: servers log paths and queries")
        }
        switch argument.type {
        case .list, .object:
            let isInForm = if case .form = endpoint.request.body { true } else { false }
            if isInBasic || isInPath || isInQuery || isInHeaders || isInText || isPart {
                problem(name, "a \(argument.type.rawValue) alone in a body, as \"{\(name)}\"")
            } else if isInForm, argument.type == .object {
                problem(name, "another type: a form has texts, and lists of them")
            }
        case .file:
            if isInBasic || isInPath || isInQuery || isInHeaders || isAlone || isInText {
                problem(name, "another type: a file can only be a part of multipart")
            }
        case .path:
            if !isInPath { problem(name, "a path in the request's path, as /files/{\(name)}; a text anywhere else") }
        case .text, .integer, .number, .boolean: break
        }
    }

    private func problem(_ name: String, _ expected: String) {
        section.problems.add(TOMLPath.join(section.path("args"), name), expected: expected, found: name)
    }
}

extension PartTemplate {
    fileprivate func names(_ argument: String) -> Bool {
        switch content {
        case .file(let name): name == argument || placeholders.contains(argument)
        case .text: placeholders.contains(argument)
        }
    }
}

extension RequestBody {
    /// As a whole value, which may have any type in JSON, and be a list in a form.
    fileprivate func hasAlone(_ name: String) -> Bool {
        switch self {
        case .json(let body): body.hasAlone(name)
        case .form(let fields): fields.contains { $0.value.solePlaceholder == name }
        case .parts: false
        }
    }

    /// As a part of a text.
    fileprivate func hasInText(_ name: String) -> Bool {
        switch self {
        case .json(let body): body.hasInText(name)
        case .form(let fields):
            fields.contains { $0.value.solePlaceholder == nil && $0.value.placeholders.contains(name) }
        case .parts: false
        }
    }

    fileprivate func hasInPart(_ name: String) -> Bool {
        guard case .parts(let parts) = self else { return false }
        return parts.contains { $0.names(name) }
    }
}

extension BodyTemplate {
    /// As a whole value, which may have any type.
    fileprivate func hasAlone(_ name: String) -> Bool {
        switch self {
        case .object(let members): members.contains { $0.value.hasAlone(name) }
        case .array(let elements): elements.contains { $0.hasAlone(name) }
        case .text(let template): template.solePlaceholder == name
        case .literal: false
        }
    }

    /// As a part of a text.
    fileprivate func hasInText(_ name: String) -> Bool {
        switch self {
        case .object(let members): members.contains { $0.value.hasInText(name) }
        case .array(let elements): elements.contains { $0.hasInText(name) }
        case .text(let template): template.solePlaceholder == nil && template.placeholders.contains(name)
        case .literal: false
        }
    }
}

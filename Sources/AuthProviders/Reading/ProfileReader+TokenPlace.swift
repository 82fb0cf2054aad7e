internal import AuthConfiguration
internal import AuthModel
internal import AuthWire

/// Where a profile's requests carry the access token.
extension ProfileReader {
    private static let placeKeys = ["header", "query", "cookie"]

    /// - Parameter names: the names of the session.
    static func tokenPlace(_ root: TOMLSection, names: PlaceholderNames) -> TokenPlace {
        let names = names.without([TemplateValues.Name.refreshToken])
        guard let section = root.tableIfAny("authorization") else {
            return root.string("authorization").flatMap { value($0, at: "authorization", names, root.problems) }
                .map { .header("Authorization", $0) } ?? .standard
        }
        section.allow(placeKeys + ["value"])
        let given = placeKeys.filter(section.has)
        guard given.count == 1, let key = given.first else {
            section.problems.add(
                section.path, expected: "exactly one of header, query and cookie: the token is sent in one place",
                found: given.isEmpty ? "none" : given.joined(separator: " and "))
            return .standard
        }
        let text = section.string("value") ?? "{access_token}"
        guard let name = section.string(key), let value = value(text, at: section.path("value"), names, root.problems)
        else { return .standard }
        switch key {
        case "header":
            check(name, isHeaderName(name), "a header's name (RFC 9110 §5.6.2)", at: section.path(key), root.problems)
            let isFree = !(forbiddenHeaders + ["accept", "content-type", "cookie", "dpop"]).contains(name.lowercased())
            check(name, isFree, "a header without another meaning", at: section.path(key), root.problems)
            return .header(name, value)
        case "cookie":
            check(name, isHeaderName(name), "a cookie's name (RFC 6265 §4.1.1)", at: section.path(key), root.problems)
            return .cookie(name, value)
        default:
            check(name, !name.isEmpty, "the name of a query parameter", at: section.path(key), root.problems)
            return .query(name, value)
        }
    }

    private static func check(
        _ name: String, _ isRight: Bool, _ expected: String, at path: String, _ problems: ProblemList
    ) {
        if !isRight { problems.add(path, expected: expected, found: name) }
    }

    private static func value(
        _ text: String, at path: String, _ names: PlaceholderNames, _ problems: ProblemList
    ) -> Template? {
        guard let template = template(text, at: path, names, problems) else { return nil }
        guard template.placeholders.contains(TemplateValues.Name.accessToken) else {
            problems.add(path, expected: "a text with {access_token}, such as \"Token {access_token}\"", found: text)
            return nil
        }
        guard template.literals.allSatisfy(isHeaderText) else {
            problems.add(path, expected: "a value without line breaks", found: "one with some")
            return nil
        }
        return template
    }

    /// The token must be in one place, even if another key of the profile names the same one, or the token.
    static func checkTokenPlace(_ root: TOMLSection, _ profile: ProviderProfile) {
        guard profile.tokenPlace != .standard else { return }
        for header in profile.headers where header.value.placeholders.contains(TemplateValues.Name.accessToken) {
            root.problems.add(
                TOMLPath.join("headers", header.name), expected: "no token here: authorization says where it is sent",
                found: header.value.text)
        }
        for header in profile.headers where profile.tokenPlace.isHeader(header.name) {
            root.problems.add(
                TOMLPath.join("headers", header.name), expected: "no such header: authorization sets it", found: "one")
        }
        for described in profile.requests where described.request.bearer {
            let (path, request) = (path(of: described), described.request)
            for header in request.headers where profile.tokenPlace.isHeader(header.name) {
                root.problems.add(
                    TOMLPath.join(TOMLPath.join(path, "headers"), header.name),
                    expected: "no such header: authorization sets it", found: "one")
            }
            for field in request.query where profile.tokenPlace.isQuery(field.name) {
                root.problems.add(
                    TOMLPath.join(TOMLPath.join(path, "query"), field.name),
                    expected: "no such parameter: authorization sets it", found: "one")
            }
        }
        if profile.oauth?.bindsTokens == true {
            root.problems.add(
                "authorization", expected: "nothing with dpop = true: such a token has its own header (RFC 9449 §7.1)",
                found: "one")
        }
    }

    /// What is valid, and worth a word.
    static func notes(_ root: TOMLSection, _ profile: ProviderProfile) -> [ProfileNote] {
        guard case .query(let name, _) = profile.tokenPlace else { return [] }
        return [
            ProfileNote(
                file: profile.source, line: root.problems.line(of: "authorization.query"), key: "authorization.query",
                text: "the token is a part of every address (\(name)=…), which servers and proxies log; "
                    + "use a header if the provider accepts one")
        ]
    }
}

internal import AuthConfiguration
internal import AuthModel
internal import AuthWire

/// The parts of a profile about responses.
extension ProfileReader {
    static func pointer(_ section: TOMLSection, _ key: String) -> JSONPointer? {
        section.string(key).flatMap { pointer($0, at: section.path(key), section.problems) }
    }

    private static func pointer(_ text: String, at path: String, _ problems: ProblemList) -> JSONPointer? {
        do throws(JSONPointerError) {
            return try JSONPointer(text)
        } catch {
            problems.add(path, expected: "a JSON Pointer such as /session/token (RFC 6901)", found: text)
            return nil
        }
    }

    /// `"/pointer"`, `{ header = "NAME" }` or `{ cookie = "NAME" }`.
    static func place(_ section: TOMLSection, _ key: String) -> ValuePlace? {
        switch section.table[key]?.type {
        case nil: return nil
        case .string: return pointer(section, key).map(ValuePlace.pointer)
        case .table: return section.section(key).flatMap(place)
        case let type?:
            section.problems.add(section.path(key), expected: placeForm, found: type.description)
            return nil
        }
    }

    private static let placeForm = "a JSON Pointer, { header = \"NAME\" } or { cookie = \"NAME\" }"

    private static func place(_ table: TOMLSection) -> ValuePlace? {
        table.allow("header", "cookie")
        let names = ["header", "cookie"].filter(table.has)
        guard names.count == 1, let kind = names.first else {
            table.problems.add(table.path, expected: placeForm, found: names.isEmpty ? "neither" : "both")
            return nil
        }
        guard let name = table.string(kind) else { return nil }
        guard HeaderRules.isName(name) else {
            table.problems.add(
                table.path(kind), expected: "the name of a \(kind): letters, digits and some punctuation", found: name)
            return nil
        }
        return kind == "header" ? .header(name) : .cookie(name)
    }

    static func replyMap(_ section: TOMLSection) -> ResponseMap {
        section.allow(
            "access_token", "token_type", "refresh_token", "expires_in", "expires_at", "expires_from_jwt", "user",
            "needs_password", "refresh_expires_in", "required", "success")
        return ResponseMap(
            accessToken: place(section, "access_token"), tokenType: place(section, "token_type"),
            refreshToken: place(section, "refresh_token"), expiresIn: place(section, "expires_in"),
            refreshExpiresIn: place(section, "refresh_expires_in"),
            expiresAt: place(section, "expires_at"), expiresFromJWT: section.bool("expires_from_jwt") ?? false,
            user: pointers(section, "user"), needsPassword: pointer(section, "needs_password"),
            required: required(section), success: section.section("success").flatMap(rule))
    }

    private static func required(_ section: TOMLSection) -> Set<ResponseMap.Required> {
        let words = ResponseMap.Required.allCases.map(\.rawValue)
        let found = (section.strings("required") ?? []).enumerated().compactMap { index, word in
            let part = ResponseMap.Required(rawValue: word)
            if part == nil {
                section.problems.add(
                    TOMLPath.element(section.path("required"), index),
                    expected: "one of " + words.joined(separator: ", "), found: word)
            }
            return part
        }
        return Set(found)
    }

    static func errorMap(_ section: TOMLSection) -> ErrorMap {
        section.allow("message", "code", "kinds", "details", "envelope", "list")
        let list = pointer(section, "list")
        if list != nil, section.has("envelope") {
            section.problems.add(
                section.path("list"), expected: "nothing: the envelope tells an error from a success", found: "one")
        }
        return ErrorMap(
            message: pointers(section, "message"), code: pointer(section, "code"), kinds: codeKinds(section),
            details: pointer(section, "details") ?? list,
            envelope: section.section("envelope").flatMap(envelope)
                ?? list.map { ErrorMap.Envelope(pointer: $0, success: nil) })
    }

    private static func codeKinds(_ section: TOMLSection) -> [String: ErrorKind] {
        guard let table = section.section("kinds") else { return [:] }
        if !["code", "message", "details", "list"].contains(where: section.has) {
            section.problems.add(
                section.path("code"), expected: "a JSON Pointer to the code or the message, beside kinds",
                found: "nothing")
        }
        let words = ErrorMap.codeKinds.map(\.rawValue)
        return Dictionary(
            table.keysInOrder.compactMap { code in
                table.word(code, of: words).flatMap(ErrorKind.init).map { (code, $0) }
            }
        ) { $1 }
    }

    private static func envelope(_ section: TOMLSection) -> ErrorMap.Envelope? {
        section.allow("pointer", "success", "status")
        let pointer = pointer(section, "pointer")
        let success: JSON? =
            switch section.table["success"]?.type {
            case .int: section.table["success"]?.int.map { .integer(Int64($0)) }
            case .string: section.string("success").map(JSON.string)
            case .bool: section.bool("success").map(JSON.bool)
            default: nil
            }
        guard let pointer, success != nil || !section.has("success") else {
            section.problems.add(
                section.path,
                expected: "pointer, and success: the number, string or boolean that means success. Without success, "
                    + "no value means success")
            return nil
        }
        return ErrorMap.Envelope(pointer: pointer, success: success, status: Self.pointer(section, "status"))
    }

    static func userMap(_ section: TOMLSection) -> UserMap {
        section.allow("id", "email", "name", "verified")
        return UserMap(
            id: pointers(section, "id"), email: pointers(section, "email"), name: names(section),
            verified: pointer(section, "verified"))
    }

    /// Alternatives for the name: each a pointer, or a list of pointers whose texts are joined.
    private static func names(_ section: TOMLSection) -> [[JSONPointer]] {
        guard let array = section.table["name"]?.array, !array.isEmpty else {
            return pointers(section, "name").map { [$0] }
        }
        return array.enumerated().map { index, element in
            let path = TOMLPath.element(section.path("name"), index)
            if element.type == .string, let text = element.string {
                return pointer(text, at: path, section.problems).map { [$0] } ?? []
            }
            let parts = element.array.map { Array($0) } ?? []
            if parts.isEmpty { section.problems.add(path, expected: "a JSON Pointer, or a list of them") }
            return parts.enumerated().compactMap { place, part in
                let path = TOMLPath.element(path, place)
                guard part.type == .string, let text = part.string else {
                    section.problems.add(path, expected: "a JSON Pointer", found: part.type.description)
                    return nil
                }
                return pointer(text, at: path, section.problems)
            }
        }
    }

    /// A pointer, or a list of which the first one that finds something is used.
    static func pointers(_ section: TOMLSection, _ key: String) -> [JSONPointer] {
        if section.table[key]?.array?.isEmpty == true {
            section.problems.add(
                section.path(key), expected: "at least one JSON Pointer: an empty list finds nothing", found: "none")
        }
        return (section.strings(key) ?? []).enumerated().compactMap { index, text in
            pointer(text, at: TOMLPath.element(section.path(key), index), section.problems)
        }
    }
}

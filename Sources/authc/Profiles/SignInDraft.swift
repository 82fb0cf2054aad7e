/// The request of a sign-in, as far as a document describes it.
struct SignInDraft {
    struct Field: Equatable {
        /// As the profile calls it: a valid name of a field.
        var name: String
        /// The members of the body that lead to the value. Empty: the field is a part of the path.
        var keys: [String]
        var isPassword = false
        var isOptional = false
    }

    /// An address that may be outside the base URL.
    struct Address: Equatable {
        /// The origin, if the address is not below the base URL.
        var host: String?
        var path: String
    }

    var address: Address
    var fields: [Field]
    var format = OpenAPIDocument.BodyFormat.json
    /// A token request with the password grant (RFC 6749 §4.3.2): a form with fixed names, whose response has them too.
    var isGrant = false
    /// Where a refresh token is exchanged (RFC 6749 §6).
    var renewal: Address?
    /// Members of the body that are not among the fields, and types that the fields do not have, in words.
    var leftOut: [String] = []

    var path: String { address.path }

    static func isPassword(_ name: String) -> Bool {
        ["password", "passwd", "passphrase", "pwd", "pin"].contains(name.lowercased())
    }

    /// The parts of a multipart body that sends the fields, as a TOML list.
    static func parts(_ fields: [Field]) -> String {
        let parts = fields.filter { !$0.keys.isEmpty }
            .map { EndpointDraft.part($0.keys.joined(separator: "."), argument: $0.name) }
        return "[\(parts.joined(separator: ", "))]"
    }

    /// The members of a TOML table that sends the fields, with nested tables.
    static func members(_ fields: [Field]) -> String { members(fields, depth: 0) }

    private static func members(_ fields: [Field], depth: Int) -> String {
        var members: [String] = []
        var known: Set<String> = []
        for field in fields where field.keys.count > depth && known.insert(field.keys[depth]).inserted {
            let key = field.keys[depth]
            let value =
                field.keys.count == depth + 1
                ? ProfileDraft.quoted("{\(field.name)}")
                : "{ "
                    + Self.members(
                        fields.filter { $0.keys.count > depth + 1 && $0.keys[depth] == key }, depth: depth + 1)
                    + " }"
            members.append("\(Self.key(key)) = \(value)")
        }
        return members.joined(separator: ", ")
    }

    /// A bare key if TOML allows it.
    static func key(_ text: String) -> String {
        let isBare =
            !text.isEmpty && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_-".contains($0)) }
        return isBare ? text : ProfileDraft.quoted(text)
    }
}

import AuthModel
import AuthWire

/// Sign-ins of a session that ended before that of a record, as the record in etcd lists them. A host that was started
/// later knows from them which sign-ins a restored backup may bring back.
enum FormerSignIns {
    /// The last ones of a session that are remembered.
    static let limit = 8

    private static let name = "former_sign_ins"

    /// - Parameter json: the content of a record.
    static func list(in json: JSON?) -> [SignInID] {
        (json?[name]?.arrayValue ?? []).suffix(limit).compactMap { $0.stringValue.flatMap { SignInID($0) } }
    }

    /// Adds them to the content of a record.
    static func add(_ signIns: [SignInID], to object: inout JSONObject) {
        if !signIns.isEmpty { object[name] = .array(signIns.map { .string($0.text) }) }
    }
}

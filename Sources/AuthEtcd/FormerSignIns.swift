import AuthModel
import AuthWire

/// The sign-in of a record in etcd, and those that ended before it, as the record lists them. A sign-out lists all of them
/// for the next record. A host that was started later knows from them which sign-ins a restored backup may bring back.
struct FormerSignIns: Sendable {
    /// That of the record itself.
    let signIn: SignInID
    /// Those before it, the oldest first; at most ``limit``.
    let list: [SignInID]

    /// - Parameter json: the content of the record.
    init(of record: SessionRecord, _ json: JSON?) {
        (signIn, list) = (record.signIn, Self.list(in: json))
    }

    /// The last ones of a session that are remembered.
    static let limit = 8

    private static let name = "former_sign_ins"

    /// - Parameter json: the content of a record, or of the list of a sign-out.
    static func list(in json: JSON?) -> [SignInID] {
        (json?[name]?.arrayValue ?? []).suffix(limit).compactMap { $0.stringValue.flatMap { SignInID($0) } }
    }

    /// Adds them to the content of a record.
    static func add(_ signIns: [SignInID], to object: inout JSONObject) {
        if !signIns.isEmpty { object[name] = .array(signIns.map { .string($0.text) }) }
    }

    /// What a sign-out leaves; `nil`: there are none.
    static func content(_ signIns: [SignInID]) -> Secret? {
        var object = JSONObject()
        add(signIns, to: &object)
        return object.isEmpty ? nil : Secret(bytes: JSON.object(object).serialized())
    }
}

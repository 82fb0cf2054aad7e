import AuthWire

/// Refuses params that look mistyped, for the methods in which a mistyped `session` would mean the default session: a
/// wrong token, a wrong sign-out; and for `store.rekey`, in which a mistyped `passphrase` would leave the former one.
///
/// A key of another method is ignored as everywhere, so that a client may send the same params to several methods.
enum ParamNames {
    private static let strict: [MethodName] = [
        .tokenGet, .tokenReject, .tokenProof, .sessionLogout, .sessionExport, .sessionTrust, .storeRekey,
    ]
    private static let own = Dictionary(uniqueKeysWithValues: strict.map { ($0, Set($0.about.params.map(\.name))) })
    private static let all = Set(MethodName.allCases.flatMap { $0.about.params.map(\.name) })

    static func check(_ method: MethodName, _ params: JSON?) throws(AgentError) {
        guard let known = own[method], let object = params?.objectValue else { return }
        for key in object.keys where !known.contains(key) {
            let meant = known.sorted().first { Likeness.isOneSlip(from: key, to: $0) }
            guard meant != nil || !all.contains(key) else { continue }
            throw .invalidParams(
                "params: \(method.rawValue) has no key '\(key.quotable)'"
                    + (meant.map { "; did you mean '\($0)'?" } ?? ": \(known.sorted().joined(separator: ", "))."))
        }
    }
}

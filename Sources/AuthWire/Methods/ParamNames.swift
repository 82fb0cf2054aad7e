/// Refuses mistyped keys in params of methods that would otherwise do something else: without its `session`, `token.get`
/// would return the default session's token; without its `passphrase`, `store.rekey` would keep the former one.
///
/// A key of another method is ignored, so that a client may send the same params to several methods.
enum ParamNames {
    private static let all = Set(AgentMethods.all.flatMap { $0.memberList.map(\.name) })

    static func check(_ params: JSONObject, of method: (some AgentMethod).Type) throws(AgentError) {
        let known = method.memberList.map(\.name)
        for key in params.keys {
            // No known key is as long, and comparing text that is not ASCII is slow.
            let isLong = key.utf8.count > Suggestion.longest
            if !isLong, known.contains(key) { continue }
            let meant = isLong ? nil : known.sorted().first { Suggestion.isOneEdit(from: key, to: $0) }
            guard isLong || meant != nil || !all.contains(key) else { continue }
            throw .invalidParams(
                "params: \(method.name) has no key '\(key.quotable)'"
                    + (meant.map { "; did you mean '\($0)'?" } ?? ": \(known.sorted().joined(separator: ", "))."))
        }
    }
}

extension ProviderProfile {
    /// The path of the endpoint that a request is like, without its values; `nil` if it is like none.
    /// - Parameter path: of `api.request`; a query may follow.
    package func pathTemplate(of method: String, _ path: String) -> String? {
        let plain = path.prefix { $0 != "?" }
        guard plain.hasPrefix("/") else { return nil }
        // A literal path precedes one with placeholders: /users/search before /users/{id}.
        return endpoints.filter { $0.request.method == method }
            .sorted { $0.request.path.placeholders.count < $1.request.path.placeholders.count }
            .first { PathPattern($0.request.path, base: "").matches(String(plain)) }?.request.path.text
    }
}

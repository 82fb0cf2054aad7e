/// An address that the user types. The agent decides which ones it accepts; this only reports mistakes early.
enum ServerAddress {
    /// - Parameter allowsQuery: whether it may be the URL of a resource, with a query.
    /// - Returns: why it cannot be used; `nil` if it can.
    static func problem(of text: String, allowsQuery: Bool) -> String? {
        guard let mark = text.firstRange(of: "://") else { return "Write an address, such as https://api.example.org." }
        let scheme = text[..<mark.lowerBound].lowercased()
        guard scheme == "https" || scheme == "http" else {
            return "The address of a server begins with https://, not with \(scheme)://."
        }
        let server = allowsQuery ? String(text.prefix { $0 != "?" }) : text
        guard let url = DescriptionURL(server), url.path.isEmpty || DescriptionURL.isPath(url.path) else {
            return "That is not the address of a server: write one such as https://api.example.org."
        }
        guard url.isProtected else {
            return "With http://, others on the network could read passwords: use https://."
        }
        return nil
    }
}

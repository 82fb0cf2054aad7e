import AuthWire

extension Starter.Value {
    /// The value without what users copy with it.
    func checked(_ text: String) throws(Failure) -> String {
        var text = text
        let isVisible = text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        switch kind {
        case .clientID:
            guard isVisible else {
                throw .usage("'\(text)' is not a client ID: it has a space or another character that no ID has")
            }
        case .host:
            if text.hasPrefix("https://") { text = String(text.dropFirst("https://".count)) }
            while text.last == "/" { text.removeLast() }
            let letters = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || ".-:".contains($0)) }
            guard letters, text.first?.isLetter == true || text.first?.isNumber == true else {
                throw .usage("'\(text)' is not a host, such as id.example.org")
            }
        case .tenant where ["common", "organizations"].contains(text): break
        case .tenant:
            let parts = text.split(separator: "-", omittingEmptySubsequences: false)
            guard parts.map(\.count) == [8, 4, 4, 4, 12], parts.joined().allSatisfy({ $0.isASCII && $0.isHexDigit })
            else {
                throw .usage(
                    "'\(text)' is not a tenant's ID, a UUID",
                    hint: "the ID is on the overview of your directory; 'common' and 'organizations' accept all tenants"
                )
            }
        case .realm:
            guard isVisible, !text.contains(where: "/?#%\\".contains) else {
                throw .usage("'\(text)' is not the name of a realm")
            }
        case .audience:
            guard isVisible, text.hasPrefix("https://") || text.hasPrefix("http://") else {
                throw .usage("'\(text)' is not an identifier such as https://api.example.org")
            }
        }
        return text
    }
}

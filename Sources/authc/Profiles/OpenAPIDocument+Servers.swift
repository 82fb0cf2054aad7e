import AuthWire

/// Where the API is.
extension OpenAPIDocument {
    /// The first server's URL, if it is a whole one.
    var url: String? { server.flatMap { DescriptionURL($0) }.map { Self.withoutEndingSlash($0.text) } }

    /// A relative server at the given address; `/`, which is the default, says nothing about it.
    func url(at address: String) -> String? {
        guard let server, DescriptionURL(server) == nil, !["", "/", ".", "./"].contains(server) else { return nil }
        return DescriptionURL(server, against: address).map { Self.withoutEndingSlash($0.text) }
    }

    /// The URL of the first server, or a reference, with the defaults of its variables.
    var server: String? {
        if isSwagger {
            let path = root["basePath"]?.stringValue ?? ""
            guard let host = root["host"]?.stringValue else { return path.isEmpty ? nil : path }
            let schemes = root["schemes"]?.arrayValue?.compactMap(\.stringValue) ?? []
            return (schemes.contains("http") && !schemes.contains("https") ? "http://" : "https://") + host
                + (path.isEmpty || path.hasPrefix("/") ? path : "/" + path)
        }
        guard let server = root["servers"]?.arrayValue?.first, var url = server["url"]?.stringValue else { return nil }
        for (name, value) in defaults(of: server) { url = url.replacing("{\(name)}", with: value) }
        return url.contains("{") ? nil : url
    }

    /// What the profile does not say about servers.
    var leftOutServers: [String] {
        let servers = root["servers"]?.arrayValue ?? []
        var words: [String] = []
        if servers.count > 1 { words.append("all servers but the first") }
        if let first = servers.first {
            words += defaults(of: first).map { "all values of the server variable \($0.name) but \($0.value)" }
            if server == nil, let url = first["url"]?.stringValue {
                words.append("the server \(url): it has a variable without a default")
            }
        }
        for (path, item) in pathItems {
            if item["servers"] != nil { words.append("the servers of \(path)") }
            for method in Self.methods where item[method]?["servers"] != nil {
                words.append("the servers of \(method.uppercased()) \(path)")
            }
        }
        return words
    }

    private func defaults(of server: JSON) -> [(name: String, value: String)] {
        (server["variables"]?.objectValue ?? [:]).compactMap { name, variable in
            // YAML without quotation marks gives a number.
            variable["default"].map { (name, $0.stringValue ?? $0.text()) }
        }
    }

    static func withoutEndingSlash(_ url: String) -> String {
        var url = url
        while url.hasSuffix("/") { url.removeLast() }
        return url
    }
}

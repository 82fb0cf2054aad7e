@testable import AuthModel

extension FuzzTarget {
    /// URLs of profiles, metadata and users.
    static let url = FuzzTarget("url", longest: 512) { bytes throws(Violation) in
        let text = String(decoding: bytes, as: UTF8.self)
        if let base = try? BaseURL(text) {
            try require(base.text.utf8.allSatisfy(\.isVisible), "'\(base.text)' is accepted")
            try require((try? BaseURL(base.text)) == base, "'\(base.text)' is read as another URL")
        }
        if let origin = Origin(of: text) {
            try require(origin.text.utf8.allSatisfy(\.isVisible), "'\(origin.text)' is accepted")
            try require(Origin(of: origin.text) == origin, "'\(origin.text)' is another origin")
            try require((1...65_535).contains(origin.port), "the port \(origin.port) is accepted")
        }
        if let resource = try? ResourceURL(text) {
            try require(Origin(of: resource.text) == resource.origin, "'\(resource.text)' has another origin")
            try require(
                (try? ResourceURL(resource.text + resource.query)) == resource, "'\(resource.text)' is read as another")
            try require((try? resource.sessionName(1)) != nil, "'\(resource.text)' has no session name")
        }
    }

    /// The `Link` field, after the path of the request that it answers, and where it leads.
    static let link = FuzzTarget("link", longest: 1024) { bytes throws(Violation) in
        var input = InputReader(bytes)
        let path = input.line() ?? []
        let field = String(decoding: input.rest, as: UTF8.self)
        let visible = path.filter { $0.isVisible && $0 != UInt8(ascii: "#") }
        let address = "https://api.example.org/" + String(decoding: visible, as: UTF8.self)
        let base = URLReference.resolve(address, against: address)
        for relation in ["next", "prev"] {
            guard let target = LinkHeader.target(of: relation, in: field) else { continue }
            try require(target.utf8.count <= field.utf8.count, "the target is longer than the field")
            let url = URLReference.resolve(target, against: base)
            try require(!url.utf8.contains(UInt8(ascii: "#")), "'\(url)' has a fragment")
            try require(URLReference.resolve(url, against: base) == url, "'\(url)' leads elsewhere")
            let leaves = target.utf8.starts(with: "//".utf8) || target.utf8.contains(UInt8(ascii: ":"))
            try require(leaves || Origin(of: url) == Origin(of: base), "'\(target)' leads to '\(url)'")
        }
    }
}

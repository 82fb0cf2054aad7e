/// The path of a value in messages: `sign_in.password.fields[0].name`; a key that needs quotes has them.
package enum TOMLPath {
    package static func join(_ path: String, _ key: String) -> String {
        let written = key.isEmpty || !key.utf8.allSatisfy(isBare) ? quoted(key) : key
        return path.isEmpty ? written : path + "." + written
    }

    package static func element(_ path: String, _ index: Int) -> String { "\(path)[\(index)]" }

    /// Characters of a key without quotes (TOML 1.0.0, "Keys").
    package static func isBare(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    package enum Component: Sendable, Equatable {
        case key(String)
        /// The index in a list, from 0.
        case index(Int)
    }

    /// The reverse of ``join(_:_:)`` and ``element(_:_:)``; `nil` if the text is not a path.
    package static func components(_ path: String) -> [Component]? {
        var rest = path[...]
        var components: [Component] = []
        while true {
            guard let key = parseKey(&rest) else { return nil }
            components.append(.key(key))
            while rest.first == "[" {
                guard let end = rest.firstIndex(of: "]"),
                    let number = Int(rest[rest.index(after: rest.startIndex)..<end]), number >= 0
                else { return nil }
                components.append(.index(number))
                rest = rest[rest.index(after: end)...]
            }
            guard let next = rest.first else { return components }
            guard next == "." else { return nil }
            rest.removeFirst()
        }
    }

    package static func text(_ components: some Sequence<Component>) -> String {
        components.reduce(into: "") { path, component in
            switch component {
            case .key(let key): path = join(path, key)
            case .index(let number): path = element(path, number)
            }
        }
    }

    private static func parseKey(_ rest: inout Substring) -> String? {
        guard rest.first == "\"" else {
            let key = rest.prefix { $0.utf8.allSatisfy(isBare) }
            rest = rest[key.endIndex...]
            return key.isEmpty ? nil : String(key)
        }
        rest.removeFirst()
        var key = ""
        while var character = rest.popFirst() {
            if character == "\"" { return key }
            if character == "\\" {
                guard let escaped = rest.popFirst() else { return nil }
                character = escaped
            }
            key.append(character)
        }
        return nil
    }

    private static func quoted(_ key: String) -> String {
        var text = "\""
        for character in key {
            if character == "\"" || character == "\\" { text.append("\\") }
            text.append(character)
        }
        return text + "\""
    }
}

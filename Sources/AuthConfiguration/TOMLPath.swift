/// The path of a value in messages: `sign_in.password.fields[0].name`. A key that needs quotes has them, with the
/// escapes of TOML: if the path is read again, or written to a file, it has the same keys.
package enum TOMLPath {
    package static func join(_ path: String, _ key: String) -> String {
        let written = key.isEmpty || !key.utf8.allSatisfy(isBare) ? TOMLEscape.quoted(key, isShown: true) : key
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
        var rest = Array(path.utf8)[...]
        var components: [Component] = []
        while true {
            guard let key = parseKey(&rest) else { return nil }
            components.append(.key(key))
            while rest.first == UInt8(ascii: "[") {
                guard let end = rest.firstIndex(of: UInt8(ascii: "]")),
                    let number = Int(String(decoding: rest[..<end].dropFirst(), as: UTF8.self)), number >= 0
                else { return nil }
                components.append(.index(number))
                rest = rest[end...].dropFirst()
            }
            guard let next = rest.popFirst() else { return components }
            guard next == UInt8(ascii: ".") else { return nil }
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

    private static func parseKey(_ rest: inout ArraySlice<UInt8>) -> String? {
        guard rest.first == UInt8(ascii: "\"") else {
            let key = rest.prefix(while: isBare)
            rest = rest[key.endIndex...]
            return key.isEmpty ? nil : String(decoding: key, as: UTF8.self)
        }
        rest.removeFirst()
        var key: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: key, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let scalar = TOMLEscape.read(&rest) else { return nil }
                key += Array(String(scalar).utf8)
            default: key.append(byte)
            }
        }
        return nil
    }
}

/// The path of a value in messages: `sign_in.password.fields[0].name`; a key that needs quotes has them.
enum TOMLPath {
    static func join(_ path: String, _ key: String) -> String {
        let written = key.isEmpty || !key.utf8.allSatisfy(isBare) ? quoted(key) : key
        return path.isEmpty ? written : path + "." + written
    }

    static func element(_ path: String, _ index: Int) -> String { "\(path)[\(index)]" }

    /// Characters of a key without quotes (TOML 1.0.0, "Keys").
    static func isBare(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
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

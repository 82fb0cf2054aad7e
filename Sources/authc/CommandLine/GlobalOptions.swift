/// Moves global options from before the command: `authc -s work --json status`.
enum GlobalOptions {
    private static let flags = ["--json", "--no-input"]
    private static let withValue = ["-s", "--session", "--timeout", "--socket"]

    /// One name of each.
    static let names = flags + withValue.filter { $0 != "-s" }

    /// Whether errors are to be JSON, even before the command line is parsed.
    static func haveJSON(_ words: [String]) -> Bool {
        words.prefix { $0 != "--" }.contains { $0 == "--json" || $0.hasPrefix("--json=") }
    }

    /// The command line with these options at its end, where the command accepts or refuses them.
    static func afterVerb(_ words: [String]) -> [String] {
        var rest = words[...]
        var moved: [String] = []
        while let word = rest.first {
            if flags.contains(word) || (withValue + ["--json"]).contains(where: { word.hasPrefix($0 + "=") }) {
                moved.append(word)
                rest = rest.dropFirst()
            } else if withValue.contains(word), rest.count > 1 {
                moved += rest.prefix(2)
                rest = rest.dropFirst(2)
            } else {
                break
            }
        }
        guard !moved.isEmpty, !rest.isEmpty else { return words }
        let end = rest.firstIndex(of: "--") ?? rest.endIndex
        return Array(rest[..<end]) + moved + Array(rest[end...])
    }
}

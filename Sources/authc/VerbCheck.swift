/// A first word that is no command, before anybody looks at the options after it.
enum VerbCheck {
    /// Letters that a slip of the finger changes; with more it is another word.
    private static let mostSlips = 2

    /// - Parameters:
    ///   - words: the command line, without the program's name.
    ///   - commands: what there is.
    /// - Returns: what is wrong, if something is.
    static func problem(_ words: [String], commands: [String]) -> Failure? {
        guard let word = words.first, !word.isEmpty, !word.hasPrefix("-"), !commands.contains(word) else { return nil }
        let near = commands.map { ($0, slips(from: word, to: $0)) }.filter { $0.1 <= mostSlips }.min { $0.1 < $1.1 }
        return .usage(
            "there is no command '\(word)'",
            hint: near.map { "did you mean `authc \($0.0)`?" } ?? "`authc --help` lists all")
    }

    /// Insertions, deletions and substitutions between the two.
    static func slips(from one: String, to other: String) -> Int {
        let letters = Array(other)
        var row = Array(0...letters.count)
        for (line, letter) in one.enumerated() {
            var corner = row[0]
            row[0] = line + 1
            for (column, target) in letters.enumerated() {
                let change = corner + (letter == target ? 0 : 1)
                corner = row[column + 1]
                row[column + 1] = min(change, corner + 1, row[column] + 1)
            }
        }
        return row[letters.count]
    }
}

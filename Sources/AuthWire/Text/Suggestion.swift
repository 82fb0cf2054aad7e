/// Finds the correct spelling of a mistyped word.
package enum Suggestion {
    /// Bytes. A longer word was hardly mistyped, and comparing it takes too long: one character may have a megabyte.
    static let longest = 64

    /// A shorter beginning of a word does not stand for it.
    private static let shortestBeginning = 3

    /// The most similar word; `nil` if none is similar. One edit is always allowed, and one for every three letters. Of
    /// several words with as few edits, the nearest is one with the same first letter. A beginning stands for its word
    /// if no other word has it.
    package static func nearest(to word: String, among known: [String]) -> String? {
        guard word.utf8.count <= longest else { return nil }
        let near = known.map { other in
            let edits = distance(from: Array(word), to: Array(other))
            return (word: other, edits: edits, firstLetterEdits: other.first == word.first ? 0 : 1)
        }.min { ($0.edits, $0.firstLetterEdits) < ($1.edits, $1.firstLetterEdits) }
        if let near, near.edits <= max(1, word.count / 3) { return near.word }
        let longer = known.filter { $0.hasPrefix(word) }
        return word.count >= shortestBeginning && longer.count == 1 ? longer[0] : nil
    }

    /// What was expected instead of an unknown word.
    package static func expected(insteadOf word: String, among known: [String]) -> String {
        nearest(to: word, among: known).map { "\($0) (is that meant?)" }
            ?? "one of " + known.sorted().joined(separator: ", ")
    }

    /// The words that are accepted, and the one that is most similar to `word`.
    package static func oneOf(_ known: [String], insteadOf word: String) -> String {
        "one of " + known.joined(separator: ", ") + question(about: word, among: known)
    }

    /// For the end of a list of the known words; empty if none is similar.
    package static func question(about word: String, among known: [String]) -> String {
        nearest(to: word, among: known).map { " (did you mean \($0)?)" } ?? ""
    }

    /// Why a word on the command line is refused.
    package static func refusal(of word: String, among known: [String]) -> String {
        let meant = nearest(to: word, among: known).map { " Did you mean \($0)?" } ?? ""
        return "'\(VisibleText.line(word))' is not one of \(known.joined(separator: ", ")).\(meant)"
    }

    /// Whether the words differ by one edit.
    package static func isOneEdit(from word: String, to known: String) -> Bool {
        word.utf8.count <= longest && distance(from: Array(word), to: Array(known)) == 1
    }

    /// Counts changed, added, missing and swapped letters (optimal string alignment).
    private static func distance(from one: [Character], to other: [Character]) -> Int {
        var before: [Int] = []
        var last = Array(0...other.count)
        for i in one.indices {
            var row = [i + 1]
            for j in other.indices {
                var fewest = min(last[j] + (one[i] == other[j] ? 0 : 1), last[j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, one[i] == other[j - 1], one[i - 1] == other[j] {
                    fewest = min(fewest, before[j - 1] + 1)
                }
                row.append(fewest)
            }
            (before, last) = (last, row)
        }
        return last[other.count]
    }
}

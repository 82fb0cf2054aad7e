internal import AuthConfiguration
internal import AuthWire
internal import TOMLKit

/// Parses a TOML text of limited size into its root section.
enum TOMLDocument {
    /// A profile has some hundred lines.
    static let maxBytes = 256 << 10

    static func read(_ text: String, file: String) -> Result<TOMLSection, ProfileProblems> {
        func failure(_ line: Int, _ expected: String, _ found: String) -> Result<TOMLSection, ProfileProblems> {
            .failure(
                ProfileProblems([ProfileProblem(file: file, line: line, key: "", expected: expected, found: found)]))
        }
        guard text.utf8.count <= maxBytes else {
            return failure(0, "at most \(maxBytes >> 10) KiB", "\(text.utf8.count >> 10) KiB")
        }
        guard !text.utf8.contains(0) else { return failure(0, "TOML text", "a NUL byte") }
        let lines: KeyLines
        do throws(KeyScanner.Refusal) {
            // Before the library, which recurses without a limit.
            lines = try KeyLines(text)
        } catch {
            return failure(error.line, error.expected, error.found.quotable)
        }
        do {
            let table = try TOMLTable(string: text)
            return .success(TOMLSection(table: table, path: "", problems: ProblemList(file: file, lines: lines)))
        } catch let error as TOMLParseError {
            return failure(error.source.begin.line, "TOML", String(error.description.prefix(200)).quotable)
        } catch {
            return failure(1, "TOML", String("\(error)".prefix(200)).quotable)
        }
    }
}

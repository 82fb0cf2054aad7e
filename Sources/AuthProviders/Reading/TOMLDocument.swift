internal import AuthConfiguration
internal import AuthWire

/// Parses a TOML text of limited size into its root section.
enum TOMLDocument {
    /// A profile has some hundred lines.
    static let maxBytes = 256 << 10

    static func read(_ text: String, file: String) throws(ProfileProblems) -> TOMLSection {
        func problem(_ line: Int, _ expected: String, _ found: String) -> ProfileProblems {
            ProfileProblems([ProfileProblem(file: file, line: line, key: "", expected: expected, found: found)])
        }
        guard text.utf8.count <= maxBytes else {
            throw problem(0, "at most \(maxBytes >> 10) KiB", "\(text.utf8.count >> 10) KiB")
        }
        guard !text.utf8.contains(0) else { throw problem(0, "TOML text", "a NUL byte") }
        let lines: KeyLines
        do throws(KeyScanner.Refusal) {
            // Before the library, which recurses without a limit.
            lines = try KeyLines(text)
        } catch {
            throw problem(error.line, error.expected, error.found.quotable)
        }
        do throws(TOMLError) {
            let table = try TOMLTable(text)
            return TOMLSection(table: table, path: "", problems: ProblemList(file: file, lines: lines))
        } catch {
            throw problem(error.line, "TOML", String(error.message.prefix(200)).quotable)
        }
    }
}

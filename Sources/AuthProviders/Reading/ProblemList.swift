internal import AuthConfiguration
package import AuthWire

/// Collects the problems of one file, so that the user can fix all of them at once.
final class ProblemList {
    /// More than this is one problem: the file is something else.
    static let maxProblems = 50
    let file: String
    private let lines: KeyLines
    private(set) var problems: [ProfileProblem] = []

    init(file: String, lines: KeyLines) {
        self.file = file
        self.lines = lines
    }

    func add(_ path: String, expected: String, found: String? = nil) {
        guard problems.count < Self.maxProblems else { return }
        problems.append(
            ProfileProblem(
                file: file, line: lines.line(of: path), key: VisibleText.line(path),
                expected: VisibleText.line(expected),
                found: found.map { $0.isEmpty ? "an empty text" : $0.quotable }))
    }

    func line(of path: String) -> Int { lines.line(of: path) }

    /// The order of keys in the file, which a TOML table does not have.
    func order(of path: String) -> Int { lines.order(of: path) }
}

/// Why a file was rejected, in the order of its lines.
package struct ProfileProblems: Error, Sendable {
    package let problems: [ProfileProblem]

    package init(_ problems: [ProfileProblem]) {
        self.problems = problems.sorted { ($0.line, $0.key) < ($1.line, $1.key) }
    }
}

package import AuthWire

/// What is wrong with one file, gathered while it is read, so that a person mends all of it at once.
final class ProblemList {
    /// More than this is one problem: the file is not what it should be.
    static let most = 50
    let file: String
    private let lines: KeyLines
    private(set) var problems: [ProfileProblem] = []

    init(file: String, lines: KeyLines) {
        self.file = file
        self.lines = lines
    }

    func add(_ path: String, expected: String, found: String? = nil) {
        guard problems.count < Self.most else { return }
        problems.append(
            ProfileProblem(
                file: file, line: lines.line(of: path), key: VisibleText.line(path),
                expected: VisibleText.line(expected), found: found?.quotable))
    }

    func line(of path: String) -> Int { lines.line(of: path) }

    /// For the order of keys in the file, which a TOML table does not keep.
    func order(of path: String) -> Int { lines.order(of: path) }
}

/// Why a file could not be taken, in the order of its lines.
package struct ProfileProblems: Error, Sendable {
    package let problems: [ProfileProblem]

    package init(_ problems: [ProfileProblem]) {
        self.problems = problems.sorted { ($0.line, $0.key) < ($1.line, $1.key) }
    }
}

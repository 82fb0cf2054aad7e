package import AuthWire

/// Describes for the log what a start skips because of problems.
package enum SkippedConfiguration {
    /// - Parameter places: where the settings and profiles were read.
    /// - Returns: each problem, and after those of one file what that file lost.
    package static func lines(_ problems: [ProfileProblem], in places: ConfigurationPaths) -> [String] {
        var files: [String] = []
        for problem in problems where !files.contains(problem.file) { files.append(problem.file) }
        return files.flatMap { file in
            problems.filter { $0.file == file }.map(\.description) + [consequence(for: file, places)]
        }
    }

    private static func consequence(for file: String, _ places: ConfigurationPaths) -> String {
        if places.files.contains(file) {
            return "\(file): this part of the settings is skipped, and the rest is used."
        }
        if places.folders.contains(file) { return "\(file): the profiles above that number are skipped." }
        return "\(file): the whole profile is skipped. Fix it, then run `authc reload`."
    }
}

import Foundation

/// `peers/hostile-client.py`: a client that tries to get a token in another process's name, or to keep the agent from
/// serving others.
package enum HostileClient {
    private static let file = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "peers/hostile-client.py").path

    /// What it does until its input ends.
    package static let floods = [
        "half-lines", "huge-lines", "deep", "values", "batches", "broken", "pings", "deaf", "crowd", "churn", "waiting",
        "inherited", "given",
    ]

    package static func command(_ attempt: String, _ arguments: [String]) -> [String] {
        ["/usr/bin/python3", "-B", file, attempt] + arguments
    }
}

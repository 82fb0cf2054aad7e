import Foundation

/// `peers/hostile-client.py`: a client that tries to get a token in another process's name.
package enum HostileClient {
    private static let file = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "peers/hostile-client.py").path

    package static func command(_ attempt: String, _ arguments: [String]) -> [String] {
        ["/usr/bin/python3", "-B", file, attempt] + arguments
    }
}

import Foundation

/// A network namespace for this program and all that it starts: nothing outside changes, and nothing is left.
enum OwnNetwork {
    /// Set in the environment of the program inside.
    private static let mark = "CLUSTER_FAULTS_INSIDE"

    /// Returns in the namespace. Before, the program starts itself again there, under the same process ID.
    static func enter(_ arguments: [String]) {
        guard getenv(mark) == nil else { return }
        setenv(mark, "1", 1)
        let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        // Root needs only a network namespace; other users also create a user namespace.
        let command = ["unshare", getuid() == 0 ? "-n" : "-Urn", "--", program] + arguments
        var words = command.map { strdup($0) } + [nil]
        execvp(command[0], &words)
        print("unshare cannot be started: \(String(cString: strerror(errno)))")
        exit(1)
    }
}

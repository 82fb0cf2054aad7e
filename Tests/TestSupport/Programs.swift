import Foundation

/// The programs as they were built, beside the program of the tests.
package enum Programs {
    package static let folder: String = {
        let runner = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return ((runner ?? CommandLine.arguments[0]) as NSString).deletingLastPathComponent
    }()
    package static var authd: String { folder + "/authd" }
    package static var authc: String { folder + "/authc" }
    package static var standIns: String { folder + "/stand-in-backends" }
}

package import AuthModel
import Synchronization

/// The profiles inside the program.
package enum BundledProfiles {
    package static let source = "bundled"

    /// The texts, by name; a user's own profile may begin as a copy of one.
    package static let texts: [String: String] = [
        "anonymous-wall": text(PackageResources.anonymous_wall_toml),
        "app-template": text(PackageResources.app_template_toml),
        "aws-lambda": text(PackageResources.aws_lambda_toml),
        "envelope": text(PackageResources.envelope_toml),
        "fork-in-the-road": text(PackageResources.fork_in_the_road_toml),
    ]

    /// Each is read when it is needed. Tests check that none has a problem.
    package static let all = texts.map { name, text in
        let profile = Once { try? ProfileReader.read(text, source: source) }
        return BundledProfile(name) { profile.value }
    }

    /// ``all``, changed by the settings. A changed profile is also read only when it is needed.
    static func all(changedBy changes: [String: ProfileChanges]) -> [BundledProfile] {
        all.map { bundled in
            guard let changes = changes[bundled.name], !changes.isEmpty else { return bundled }
            let profile = Once { bundled.profile.map(changes.applied) }
            return BundledProfile(bundled.name, changes: changes) { profile.value }
        }
    }

    private final class Once<Value: Sendable>: Sendable {
        private let make: @Sendable () -> Value
        private let made = Mutex<Value?>(nil)

        init(_ make: @escaping @Sendable () -> Value) { self.make = make }

        var value: Value {
            made.withLock { made in
                let value = made ?? make()
                made = value
                return value
            }
        }
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}

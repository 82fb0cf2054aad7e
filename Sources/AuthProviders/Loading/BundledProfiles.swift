package import AuthModel
package import AuthWire

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

    /// All profiles and their problems. There are none, or the tests fail.
    package static func read() -> (profiles: [ProviderProfile], problems: [ProfileProblem]) {
        var profiles: [ProviderProfile] = []
        var problems: [ProfileProblem] = []
        for text in texts.values {
            do throws(ProfileProblems) {
                profiles.append(try ProfileReader.read(text, source: source))
            } catch {
                problems += error.problems
            }
        }
        return (profiles, problems)
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}

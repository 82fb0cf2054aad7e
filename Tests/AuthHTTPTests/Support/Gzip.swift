import Subprocess

/// The bytes as gzip(1) packs them.
func gzip(_ bytes: [UInt8]) async throws -> [UInt8] {
    let result = try await Subprocess.run(
        .name("gzip"), arguments: ["-c"], input: .array(bytes), output: .bytes(limit: 1 << 20), error: .discarded)
    return result.standardOutput
}

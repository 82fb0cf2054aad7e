/// Repeats a condition with a round trip each time until it is true; `false` if it never is.
package func until(_ tries: Int = 400, _ holds: () async throws -> Bool) async throws -> Bool {
    for _ in 1...tries where try await holds() { return true }
    return false
}

/// Asks again and again, each time by a round trip to somebody, until it holds; `false` when it does not after all of them.
package func until(_ tries: Int = 400, _ holds: () async throws -> Bool) async throws -> Bool {
    for _ in 1...tries where try await holds() { return true }
    return false
}

package import AuthWire

/// What a locked agent serves. It never returns a token.
package enum LockRules {
    /// Besides the class `status`. A sign-out only takes away, and may be urgent.
    private static let methods: Set<String> = [AgentLock.name, AgentUnlock.name, SessionLogout.name]

    package static func serves(_ method: String, _ access: AccessClass) -> Bool {
        access == .status || methods.contains(method)
    }
}

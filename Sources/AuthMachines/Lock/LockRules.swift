package import AuthWire

/// What a locked agent serves. It never returns a token.
package enum LockRules {
    /// The methods that are served besides the class `status`. A sign-out only removes access, and may be urgent.
    private static let methods: Set<String> = [AgentLock.name, AgentUnlock.name, SessionLogout.name]

    package static func serves(_ method: String, _ access: AccessClass) -> Bool {
        access == .status || methods.contains(method)
    }
}

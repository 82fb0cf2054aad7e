/// Reports whether all login sessions of the user are locked.
package protocol LoginSessionWatch: Sendable {
    /// The present state first, then each change. Nothing until it is known.
    func areLocked() -> AsyncStream<Bool>
}

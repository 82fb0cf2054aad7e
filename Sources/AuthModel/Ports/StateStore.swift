/// A value of the agent that outlives a run, such as the sign-outs that a store has not carried out.
package protocol StateStore<Value>: Sendable {
    associatedtype Value: Sendable

    /// The value that was written last; the empty value if it cannot be read.
    func load() -> Value

    /// Replaces the value. For a value that may be lost, since the call must not wait for a disk.
    func write(_ value: Value) throws(StoreError)

    /// Replaces the value. It survives a loss of power when this returns, even if the task is cancelled.
    /// - Parameter newest: called right before the write, so that of two calls at once the older value never replaces the
    ///   newer one.
    func save(_ newest: @escaping @Sendable () -> Value) async throws(StoreError)
}

internal import AuthMachines
internal import AuthModel
internal import AuthWire
internal import Synchronization

/// Reads the store again.
extension SessionLoader {
    /// Loads sessions that came into the store without a sign-in here, and writes what is unwritten.
    func storeWasReplaced() async {
        storage.handovers.storeWasReplaced()
        storage.flushHandovers()
        for session in registry.all {
            await session.handle(.shared(store.leases != nil))
            await session.handle(.storeChanged)
        }
        await reload()
    }

    /// A user wants to sign in: the store is read again, and may prompt them to unlock it.
    func retryPrompts() async {
        guard !registry.isLoaded || board.store.state != .ready else { return }
        await store.retryPrompts()
        await reload()
    }

    /// The same, without waiting for it.
    package func startRetry() {
        context.tasks.pool.order { await self.retryPrompts() }
    }

    /// Reads a store that reports no recovery, after growing pauses, until that succeeds.
    func retryLater() {
        let pause = retries.withLock { retries -> Duration? in
            guard !retries.isScheduled else { return nil }
            retries.isScheduled = true
            return retries.backoff.next(retryAfter: nil, using: &retries.random)
        }
        guard let pause else { return }
        let due = context.clock.now().boot + pause
        context.tasks.pool.order {
            // Cancelled only when the agent stops.
            guard (try? await self.context.clock.sleep(until: due)) != nil else { return }
            self.retries.withLock { $0.isScheduled = false }
            if !self.registry.isLoaded { await self.reload() }
        }
    }
}

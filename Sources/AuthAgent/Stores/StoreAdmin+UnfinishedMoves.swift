internal import AuthConcurrency
import AuthModel
import AuthWire

/// What moves of sessions have left.
extension StoreAdmin {
    /// Ends the moves that an earlier run could not: when both stores are open, and without asking anybody to open one.
    package func finishMoves() async {
        for var move in await unfinishedMoves() {
            // A user has gone back to where the sessions were: nothing there is a copy.
            if move.phase == .removing, move.from == store.kind { move.copies = [] }
            move.phase = move.phase(afterStartIn: store.kind)
            try? await save(move)
        }
        let places = Set(await unfinishedMoves().compactMap { $0.place(whileIn: store.kind) })
        guard !places.isEmpty else { return }
        for await state in store.states() where state == .ready { break }
        guard !Task.isCancelled else { return }
        // One place at a time: a second task would find the permit taken and give up.
        let turn = AsyncLock()
        await withDiscardingTaskGroup { group in
            for place in places { group.addTask { await finishMoves(withCopiesIn: place, turn) } }
        }
    }

    private func finishMoves(withCopiesIn place: StoreKind, _ turn: AsyncLock) async {
        guard let holder = try? await dependencies.open(place) else { return }
        await withDiscardingTaskGroup { group in
            // A store of several hosts finds out only then whether it can be reached.
            group.addTask { await holder.run() }
            for await state in holder.states() where state == .ready {
                if await turn.withLock({ await finishMoves(withCopiesIn: holder) }) ?? true { break }
            }
            group.cancelAll()
        }
    }

    /// - Returns: whether this run can do no more here.
    private func finishMoves(withCopiesIn holder: MovableStore.Store) async -> Bool {
        // Sessions are being moved. What that does not remove, the next start does.
        guard permit.acquire() else { return true }
        defer { permit.release() }
        var isDone = true
        for move in await unfinishedMoves() where move.place(whileIn: store.kind) == holder.kind {
            if await !finish(move, in: holder, sessionsIn: store).isEmpty { isDone = false }
        }
        return isDone
    }

    func unfinishedMoves() async -> [UnfinishedMove] {
        guard let moves = dependencies.moves else { return [] }
        return await BlockingThread().complete { moves.load() }
    }

    /// Saves the state of a move, or removes it if no copies are left.
    func save(_ move: UnfinishedMove) async throws(StoreError) {
        guard let moves = dependencies.moves else { return }
        try await moves.save {
            moves.load().filter { !$0.isOfSameStores(as: move) } + (move.copies.isEmpty ? [] : [move])
        }
    }

    /// As ``finish(_:in:sessionsIn:)``, even if nobody waits for the move any more.
    func removeCopies(
        of move: UnfinishedMove, in holder: MovableStore.Store, sessionsIn home: MovableStore.Store
    ) async -> [UnfinishedMove.Copy] {
        await withoutCancellation { await finish(move, in: holder, sessionsIn: home) }
    }

    /// - Parameters:
    ///   - holder: the store with the copies.
    ///   - home: the one with the sessions.
    /// - Returns: what is left to do.
    func finish(
        _ move: UnfinishedMove, in holder: any SessionStore, sessionsIn home: any SessionStore
    ) async -> [UnfinishedMove.Copy] {
        var rest = move
        if home.kind == move.to {
            rest.phase = .removing
            // Saved before anything is removed: from then on the old store is incomplete, and a start with it must not count the
            // new store's records as copies.
            do throws(StoreError) { try await save(rest) } catch { return move.copies }
        }
        rest.copies = await StoreMove.removeCopies(of: move, from: holder, sessionsIn: home)
        // If this is not saved, the next start repeats the removal, which is harmless.
        try? await save(rest)
        return rest.copies
    }
}

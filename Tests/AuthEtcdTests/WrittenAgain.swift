import AuthModel
import TestSupport
import Testing

@testable import AuthEtcd

/// The backup contains a former sign-in. The host does not serve it, and writes the later one again.
func expectWrittenAgain(
    _ later: SessionRecord, by store: EtcdStore, afterRestoring backup: String, at members: EtcdMembers
) async throws {
    let (session, faults) = (later.session, store.faults())
    #expect(try await store.load(session) == later)
    try await store.saveLater()
    try await members.restore(backup)
    #expect(await faults.first { $0 == .wentBack } == .wentBack)
    let (found, isLost) = (try await store.load(session), try await store.hasLost(session))
    #expect(found == nil && isLost)
    let outcome = try await store.update(later, replacesOther: false)
    let stored = try await store.load(session)
    #expect(outcome.stored == nil && stored == later)
}

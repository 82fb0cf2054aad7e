import AuthModel
import AuthWire
import Testing

@testable import AuthEtcd

/// A watch that is held back, or is being renewed, has not reported the session yet.
@Suite("A session that this host has read or written before a watch has reported it")
struct UnreportedSessionTests {
    private static func header(_ revision: Int64) -> EtcdHeader { EtcdHeader(clusterID: "1", revision: revision) }

    private static func signIn() throws -> SignInID { try #require(SignInID("s1-1")) }

    /// It was read or written at revision 10.
    private static func view(_ session: SessionName, isWritten: Bool) throws -> ClusterView {
        var view = ClusterView()
        _ = view.read(header(5), [:])
        view.saw(try signIn(), of: session)
        if isWritten {
            view.wrote(session, at: 10, generation: 1, key: "k")
        } else {
            view.found(session, at: 10, key: "k")
        }
        return view
    }

    @Test("was signed out of on another host if a later response lacks it, and not if an earlier one does")
    func missing() throws {
        let work = try SessionName("work")
        for isWritten in [true, false] {
            var view = try Self.view(work, isWritten: isWritten)
            let former = view.state
            #expect(!view.isSignedOut(work) && !view.lacks([:], at: 9) && view.lacks([:], at: 12))
            let read = view.read(Self.header(12), [:], since: former)
            #expect(read == ([work], false) && view.isSignedOut(work) && !view.lacks([:], at: 12))
            let signIn = try Self.signIn()
            let isEnded = [11, 12].map { view.isEnded(signIn, of: work, at: $0) }
            #expect(isEnded == [true, false])
        }
    }

    @Test("is lost if it was written after a backup that is restored, and reported if it was only read")
    func restored() throws {
        let work = try SessionName("work")
        for isWritten in [true, false] {
            var view = try Self.view(work, isWritten: isWritten)
            view.saw(Self.header(10), since: view.state)
            var read = view.read(Self.header(6), [:])
            #expect(read == ([work], true) && view.lost == (isWritten ? [work] : []))
            // Nothing ends meanwhile.
            read = view.read(Self.header(11), [:])
            #expect(read == ([], false) && !view.isSignedOut(work) && !view.lacks([:], at: 11))
        }
    }

    @Test("stays if a late report is about an earlier record")
    func lateReport() throws {
        let work = try SessionName("work")
        var view = try Self.view(work, isWritten: false)
        _ = view.apply(Self.header(8), [(work, 8, true)])
        #expect(!view.isSignedOut(work))
        _ = view.apply(Self.header(12), [(work, 12, true)])
        #expect(view.isSignedOut(work))
    }

    @Test("was signed out of if a read that counts does not find it, unless that was requested before it was written")
    func absent() throws {
        let work = try SessionName("work")
        var view = try Self.view(work, isWritten: true)
        view.wasAbsent(work, since: ClusterView().state)
        #expect(!view.isSignedOut(work))
        // A late response has an earlier record.
        view.found(work, at: 7, key: "k")
        _ = view.apply(Self.header(9), [(work, 8, true)])
        #expect(!view.isSignedOut(work))
        view.wasAbsent(work, since: view.state)
        #expect(view.isSignedOut(work))
    }
}

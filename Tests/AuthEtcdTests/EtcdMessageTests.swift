import AuthModel
import AuthWire
import Testing

@testable import AuthEtcd

@Suite("The messages of etcd")
struct EtcdMessageTests {
    private func json(_ text: String) throws -> JSON { try JSON(parsing: text) }

    @Test("are read with numbers as strings, and with members that are 0 left out")
    func numbers() throws {
        let range = try EtcdRange(json(#"{"header":{"cluster_id":"5","revision":"9007199254740993"},"more":true}"#))
        #expect(range.header == EtcdHeader(clusterID: "5", revision: 9_007_199_254_740_993) && range.isPartial)
        #expect(try EtcdRange(json(#"{"header":{}}"#)).header.revision == 0)
    }

    @Test("have the entries of a transaction that did not happen")
    func transaction() throws {
        let text = #"""
            {"header":{"revision":"3"},"responses":[{"response_range":{"header":{"revision":"3"},"kvs":[{"key":"L2E=",
            "mod_revision":"3","value":"eQ=="}]}},{"response_range":{"header":{"revision":"3"}}}]}
            """#
        let transaction = try EtcdTransaction(json(text))
        #expect(!transaction.succeeded)
        #expect(transaction.entries == ["/a": EtcdEntry(key: "/a", value: Array("y".utf8), modRevision: 3)])
    }

    @Test(
        "say by their text why something was refused, in every version",
        arguments: [
            (401, #"{"error":"etcdserver: invalid auth token","code":16}"#, EtcdRefusal.tokenInvalid),
            (400, #"{"message":"etcdserver: revision of auth store is old","code":3}"#, .tokenInvalid),
            (412, #"{"error":"etcdserver: authentication is not enabled","code":9}"#, .hasNoUsers),
            (429, #"{"code":8,"message":"etcdserver: mvcc: database space exceeded"}"#, .noSpace),
            (400, #"{"code":3,"message":"etcdserver: request is too large"}"#, .tooLarge),
            (400, #"{"code":11,"message":"etcdserver: mvcc: required revision has been compacted"}"#, .compacted),
            (404, #"{"code":5,"message":"etcdserver: requested lease not found"}"#, .leaseNotFound),
            (503, #"{"code":14,"message":"etcdserver: no leader"}"#, .unavailable(reason: "there is no leader")),
            // etcd 3.6, whose gateway writes no "error" any more.
            (
                503, #"{"code":14,"message":"etcdserver: request timed out","details":[]}"#,
                .unavailable(reason: "the members did not agree in time")
            ),
            (503, "", .unavailable(reason: "HTTP status 503")), (403, "", .denied(reason: "HTTP status 403")),
            (401, "", .tokenInvalid),
            (
                400,
                "CommonName of client sending a request against gateway will be ignored and not used as expected\n",
                .denied(reason: "while it has users, it accepts only client certificates without a common name (CN)")
            ),
            (404, "Not Found", .faulty(reason: "HTTP status 404")),
            (500, #"{"code":13,"message":"internal"}"#, .faulty(reason: "internal")), (413, "<html>", .tooLarge),
            (400, #"{"message":"bad\u0007\nname"}"#, .other(reason: "bad  name")),
        ])
    func refusals(_ status: Int, _ body: String, _ meaning: EtcdRefusal) {
        #expect(EtcdRefusal(status: status, bytes: Array(body.utf8)) == meaning)
    }

    @Test("are sent to the same member until it fails, and then to the next one")
    func ring() {
        var ring = EndpointRing(["a", "b", "c"])
        #expect(ring.current == "a")
        // Two requests report the same failure.
        ring.failed("a")
        ring.failed("a")
        #expect(ring.current == "b")
        ring.failed("b")
        ring.failed("c")
        #expect(ring.current == "a")
        #expect(EndpointRing([]).current == nil)
    }

    @Test("name the end of a prefix", arguments: [("/a/", "/a0"), ("/b", "/c")])
    func prefixEnd(_ start: String, _ end: String) {
        #expect(EtcdPlaces.end(of: start) == Array(end.utf8))
    }

    private func header(_ revision: Int64, of cluster: String = "1") -> EtcdHeader {
        EtcdHeader(clusterID: cluster, revision: revision)
    }

    @Test("tell what has changed since, and what a restored backup lacks")
    func view() throws {
        let (a, b) = (try SessionName("a"), try SessionName("b"))
        var view = ClusterView()
        var read = view.read(header(5), [a: 4])
        #expect(read == ([a], false))
        read = view.read(header(6), [a: 4])
        #expect(read == ([], false))
        view.wrote(b, at: 7, generation: 1, key: "k")
        var changed = view.apply(header(7), [(b, 7, false)])
        #expect(changed == [b])
        read = view.read(header(5), [a: 4])
        #expect(read == ([a, b], true) && view.lost == [b])
        view.wrote(b, at: 8, generation: 2, key: "k")
        #expect(view.lost.isEmpty)
        read = view.read(header(9), [a: 4, b: 8])
        #expect(read == ([b], false))
        // Another host signed out: that is no loss, even if a backup is restored later.
        changed = view.apply(header(10), [(b, 10, true)])
        read = view.read(header(3, of: "2"), [a: 4])
        #expect(changed == [b] && read.wentBack && view.lost.isEmpty)
    }

    @Test("tell a write of this host that ends during a read from a restored backup")
    func writeDuringRead() throws {
        let (a, b) = (try SessionName("a"), try SessionName("b"))
        var view = ClusterView()
        _ = view.read(header(5), [a: 4])
        let former = view.state
        view.wrote(b, at: 7, generation: 1, key: "k")
        var read = view.read(header(6), [a: 4], since: former)
        #expect(read == ([], false) && view.lost.isEmpty && view.state.revision == 7)
        // The same response to a later request is another matter.
        read = view.read(header(6), [a: 4])
        #expect(read == ([a, b], true) && view.lost == [b] && view.state.revision == 6)
    }

    @Test("do not take a late response for news of a restored backup")
    func lateResponse() {
        var view = ClusterView()
        _ = view.read(header(9), [:])
        let former = view.state
        _ = view.read(header(5), [:])
        view.saw(header(9), since: former)
        #expect(view.state.revision == 5)
        view.saw(header(6), since: view.state)
        #expect(view.state.revision == 6)
        // A change has a revision that no response had before.
        let isLater = [6, 7].map { view.state.isLater(thanChange: header($0)) }
        #expect(isLater == [true, false])
    }

    @Test("tell a restored backup that others have written to since, by one older record")
    func grown() throws {
        let (a, b) = (try SessionName("a"), try SessionName("b"))
        var view = ClusterView()
        _ = view.read(header(5), [a: 5])
        let grown = view.read(header(9), [a: 4, b: 9])
        #expect(grown == ([a, b], true))
        // As the record of the cluster shows it.
        let older = view.read(header(10), [a: 4, b: 9], isOlder: true)
        #expect(older.wentBack)
    }

    @Test("tell what a backup lacks by the lowest revision after the restore, however much it has increased since")
    func lostBefore() throws {
        let names = try ["a", "b", "c"].map { try SessionName($0) }
        var view = ClusterView()
        let written: [SessionName: Int64] = [names[0]: 4, names[1]: 8, names[2]: 9]
        for (name, revision) in written { view.wrote(name, at: revision, generation: 1, key: "k") }
        _ = view.read(header(9), written)
        // The first session was written before the backup. etcd does not have it, so it was signed out.
        let read = view.read(header(12), [names[2]: 11], isOlder: true, shown: 7)
        #expect(read == (Set(names), true) && view.lost == [names[1]])
    }

    @Test("do not bring an ended sign-in back with an older record; revisions of other histories say nothing")
    func lateRecord() throws {
        let a = try SessionName("a")
        let signIns = try ["s1-1", "s2-1"].map { try #require(SignInID($0)) }
        for isOwn in [false, true] {
            var view = ClusterView()
            view.saw(signIns[0], of: a)
            _ = view.read(header(5), [a: 5])
            if isOwn { view.removed(a, at: 8) } else { _ = view.apply(header(8), [(a, 8, true)]) }
            let isEnded = [5, 9].map { view.isEnded(signIns[0], of: a, at: $0) }
            #expect(isEnded == [true, false])
            // Another sign-in has not ended.
            #expect(!view.isEnded(signIns[1], of: a, at: 5))
            // A backup is restored.
            view.saw(header(8), since: view.state)
            _ = view.read(header(6), [a: 5])
            #expect(!view.isEnded(signIns[0], of: a, at: 5) && view.isOutdated(signIns[0], of: a))
        }
    }

    @Test(
        "show no loss if sign-outs may have been missed, and no end, either: another host may write the session again")
    func mayLackSignOuts() throws {
        let a = try SessionName("a")
        let signIn = try #require(SignInID("s1-1"))
        var view = ClusterView()
        view.saw(signIn, of: a)
        view.wrote(a, at: 8, generation: 1, key: "k")
        _ = view.read(header(9), [a: 8])
        let read = view.read(header(6), [:], shown: 5, mayLackSignOuts: true)
        #expect(read == ([a], true) && view.lost.isEmpty && view.endedAgain.isEmpty)
        _ = view.apply(header(7), [(a, 7, false)])
        #expect(!view.isOutdated(signIn, of: a) && view.endedAgain.isEmpty)
    }

    @Test("show a loss of a session that another host has written, if this one may have renewed it")
    func heldSession() throws {
        let a = try SessionName("a")
        let signIn = try #require(SignInID("s1-1"))
        for (revision, isLost) in [(8, true), (6, false)] as [(Int64, Bool)] {
            var view = ClusterView()
            view.saw(signIn, of: a)
            _ = view.read(header(9), [a: 5])
            // It is missing although it was there at that revision, so nobody has signed out before the backup.
            _ = view.read(header(6), [:], held: [a: revision])
            #expect(view.lost == (isLost ? [a] : []))
        }
        var view = ClusterView()
        view.saw(signIn, of: a)
        _ = view.read(header(9), [a: 5])
        _ = view.read(header(6), [:], mayLackSignOuts: true, held: [a: 8])
        #expect(view.lost.isEmpty)
    }

    /// A view that has seen an earlier sign-in and a later one, and then a restore, after which etcd has the earlier one.
    private func restoredView(_ session: SessionName, signIns: [SignInID]) -> ClusterView {
        var view = ClusterView()
        for signIn in signIns { view.saw(signIn, of: session) }
        _ = view.read(header(9), [session: 9])
        _ = view.read(header(6), [session: 5])
        return view
    }

    @Test("do not end a later sign-in if the earlier one of a backup is removed before it could be read")
    func removedBeforeRead() throws {
        let a = try SessionName("a")
        let signIns = try ["s1-1", "s2-1"].map { try #require(SignInID($0)) }
        var view = restoredView(a, signIns: signIns)
        #expect(view.lost.isEmpty)
        view.missed(a)
        #expect(view.lost == [a])
        // Everything is read again meanwhile, for the mark of another host.
        view = restoredView(a, signIns: signIns)
        _ = view.read(header(8), [:], isOlder: true)
        #expect(view.lost == [a])
        // It has the later sign-in: then that was removed.
        view = restoredView(a, signIns: signIns)
        view.saw(signIns[1], of: a)
        view.missed(a)
        #expect(view.lost.isEmpty)
        // This host knows no earlier one, or has signed out.
        view = restoredView(a, signIns: [signIns[1]])
        view.missed(a)
        #expect(view.lost.isEmpty)
        view = restoredView(a, signIns: signIns)
        view.removed(a, at: 7, isRepeated: true)
        view.missed(a)
        #expect(view.lost.isEmpty)
        // Nothing of it was there when this host came back: the others have repeated their sign-outs before.
        view = ClusterView()
        for signIn in signIns { view.saw(signIn, of: a) }
        _ = view.read(header(9), [a: 9])
        _ = view.read(header(6), [:], mayLackSignOuts: true)
        view.missed(a)
        #expect(view.lost.isEmpty)
    }

    @Test("tell nothing by the revision of a record that had the same one before a backup was restored")
    func sameRevision() throws {
        let a = try SessionName("a")
        let signIns = try ["s1-1", "s2-1"].map { try #require(SignInID($0)) }
        var view = ClusterView()
        for signIn in signIns { view.saw(signIn, of: a) }
        _ = view.read(header(9), [a: 7])
        // Another host may have written the earlier sign-in since.
        let read = view.read(header(8), [a: 7])
        let isOutdated = signIns.map { view.isOutdated($0, of: a) }
        #expect(read == ([a], true) && isOutdated == [true, false])
        // It is the later one.
        view.saw(signIns[1], of: a)
        _ = view.apply(header(10), [(a, 10, true)])
        #expect(view.isSignedOut(a) && view.lost.isEmpty)
    }

    @Test("keep a later sign-in if another host removes the one that a backup has brought back")
    func removedByOther() throws {
        let a = try SessionName("a")
        let signIns = try ["s1-1", "s2-1"].map { try #require(SignInID($0)) }
        var view = ClusterView()
        view.saw(signIns[0], of: a)
        _ = view.read(header(5), [a: 5])
        view.saw(signIns[1], of: a)
        view.wrote(a, at: 8, generation: 1, key: "k")
        _ = view.read(header(6), [a: 5])
        _ = view.apply(header(7), [(a, 7, true)])
        let isKept = !view.isSignedOut(a) && view.lost == [a]
        #expect(isKept)
        // Written again, and signed out of.
        view.wrote(a, at: 9, generation: 2, key: "k")
        _ = view.apply(header(10), [(a, 9, false), (a, 10, true)])
        #expect(view.isSignedOut(a) && view.lost.isEmpty)
    }

    @Test("count a session as lost until a record of it is read, unless that response is from before the restore")
    func foundAgain() throws {
        let a = try SessionName("a")
        let signIn = try #require(SignInID("s1-1"))
        var view = restoredView(a, signIns: [signIn])
        view.lose(a)
        view.found(a, at: 4, key: "k")
        #expect(view.lost == [a])
        view.found(a, at: 7, key: "k")
        #expect(view.lost.isEmpty)
        view.wrote(a, at: 10, generation: 1, key: "k")
        _ = view.read(header(7), [:])
        view.found(a, at: 10, key: "k")
        #expect(view.lost == [a])
    }

    @Test("do not end a later write of this host with a late report of an older deletion")
    func lateDeletion() throws {
        let a = try SessionName("a")
        let signIn = try #require(SignInID("s1-1"))
        var view = ClusterView()
        _ = view.read(header(5), [a: 5])
        view.saw(signIn, of: a)
        view.wrote(a, at: 7, generation: 2, key: "k")
        _ = view.apply(header(6), [(a, 6, true)])
        #expect(!view.isSignedOut(a) && view.generation(of: a) == 2)
        _ = view.apply(header(7), [(a, 7, false)])
        _ = view.apply(header(8), [(a, 8, true)])
        #expect(view.isSignedOut(a) && view.generation(of: a) == 0)
    }

    @Test(
        "end what a backup lacks with a sign-out of another host, whose revision is lower than that of the lost write")
    func deletionAfterRestore() throws {
        let a = try SessionName("a")
        let signIn = try #require(SignInID("s1-1"))
        var view = ClusterView()
        view.saw(signIn, of: a)
        view.wrote(a, at: 100, generation: 1, key: "k")
        _ = view.read(header(100), [a: 100])
        _ = view.read(header(50), [:])
        #expect(view.lost == [a])
        // Another host has written it again.
        _ = view.apply(header(51), [(a, 51, false)])
        _ = view.apply(header(52), [(a, 52, true)])
        #expect(view.isSignedOut(a) && view.lost.isEmpty)
    }

    @Test("know a sign-out that no watch has reported, and one that another host undoes after a backup was restored")
    func signedOutMeanwhile() throws {
        let a = try SessionName("a")
        let signIn = try #require(SignInID("s1-1"))
        var view = ClusterView()
        view.saw(signIn, of: a)
        _ = view.read(header(5), [a: 5])
        _ = view.read(header(8), [:])
        #expect(view.isSignedOut(a))
        // The backup is from before the sign-in.
        _ = view.read(header(3), [:])
        let before = view.endedAgain
        _ = view.apply(header(4), [(a, 4, false)])
        #expect(before.isEmpty && view.endedAgain == [a] && view.isOutdated(signIn, of: a))
        _ = view.apply(header(5), [(a, 5, true)])
        #expect(view.isOutdated(signIn, of: a))
        // An import of the same sign-in, later.
        view.endRecovery()
        _ = view.apply(header(6), [(a, 6, false)])
        #expect(!view.isOutdated(signIn, of: a) && view.endedAgain.isEmpty)
    }

    @Test("know a sign-out after a backup was restored, if another host writes the session again")
    func signedOutAfterRestore() throws {
        let a = try SessionName("a")
        let signIns = try ["s1-1", "s2-1"].map { try #require(SignInID($0)) }
        var view = ClusterView()
        view.saw(signIns[0], of: a)
        _ = view.read(header(9), [a: 9])
        _ = view.read(header(5), [a: 4])
        view.saw(signIns[0], of: a)
        view.removed(a, isRepeated: true)
        _ = view.apply(header(6), [(a, 6, true)])
        let before = view.endedAgain
        _ = view.apply(header(7), [(a, 7, false)])
        #expect(before.isEmpty && view.endedAgain == [a] && view.isOutdated(signIns[0], of: a))
        // A later sign-in is another matter.
        view.saw(signIns[1], of: a)
        #expect(view.endedAgain.isEmpty && !view.isOutdated(signIns[1], of: a))
    }

    @Test("tell an older record of a session from a newer one")
    func generations() throws {
        let name = try SessionName("a")
        var view = ClusterView()
        let seen = [4, 4, 3, 5].map { view.accepts(name, generation: $0) }
        #expect(seen == [true, true, false, true])
        view.removed(name)
        let again = view.accepts(name, generation: 1)
        #expect(again)
    }
}

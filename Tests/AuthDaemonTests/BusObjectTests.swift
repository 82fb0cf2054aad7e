import AuthModel
import AuthWire
import Testing

@testable import AuthDaemon

/// What is on the session bus, without a bus.
@Suite("Objects on the session bus")
struct BusObjectTests {
    @Test("each session has a valid path, and each path at most one session")
    func paths() throws {
        let paths = ["work": "work", "7": "_37", "a.b-c_d9": "a_2eb_2dc_5fd9"]
        for (name, path) in paths {
            let session = try SessionName(name)
            #expect(BusPath.session(session) == "/org/authd/session/" + path)
            #expect(BusPath.session(at: "/org/authd/session/" + path) == session)
        }
        for wrong in ["_77ork", "_2E", "a.b", "_", "_3", "9", "a/b", "_2ea", "Work", "_zz", "", "_+7"] {
            #expect(BusPath.session(at: "/org/authd/session/" + wrong) == nil, "\(wrong)")
        }
    }

    @Test("a change is reported with the properties that differ, and an object that has gone comes last")
    func changes() throws {
        func view(_ states: [(String, SessionState)]) throws -> BusView {
            let statuses = try states.map { name, state throws in
                var status = SessionStatus(session: try SessionName(name), provider: "p", state: state, expiresAt: 7.9)
                status.isDefault = name == "a"
                return status
            }
            return BusView(statuses, network: .online, store: nil)
        }
        let former = try view([("a", .active), ("b", .active)])
        #expect(former.changes(since: former).isEmpty)
        let now = try view([("b", .stale), ("c", .active)])
        let added = try #require(now.properties(at: "/org/authd/session/c"))
        #expect(added.1.contains(.init(key: "ExpiresAt", value: .integer(7))))
        #expect(
            now.changes(since: former) == [
                .changed(
                    path: "/org/authd/session/b", interface: "org.authd.Session1",
                    [.init(key: "State", value: .string("stale"))]),
                .added(path: "/org/authd/session/c", added.1),
                .changed(
                    path: "/org/authd", interface: "org.authd.Agent1",
                    [.init(key: "DefaultSession", value: .path("/"))]),
                .removed(path: "/org/authd/session/a"),
            ])
    }

    @Test("only Unix sockets of an address are used")
    func addresses() {
        #expect(BusAddress("unix:path=/run/user/1000/bus")?.socketPath == "/run/user/1000/bus")
        let several = BusAddress("tcp:host=example.org;unix:abstract=/tmp/x,guid=1;unix:path=/a%20b,guid=2")
        #expect(several?.text == "unix:abstract=/tmp/x,guid=1;unix:path=/a%20b,guid=2")
        #expect(several?.socketPath == "/a b")
        for wrong in ["", "autolaunch:", "tcp:host=example.org,port=1", "unixexec:path=/bin/sh"] {
            #expect(BusAddress(wrong) == nil, "\(wrong)")
        }
    }

    @Test("every kind of error has a valid name")
    func errors() {
        #expect(BusService.errorName(.notSignedIn) == "org.authd.Error.NotSignedIn")
        #expect(BusService.errorName(.internal_) == "org.authd.Error.Internal")
        let names = Set(ErrorKind.allCases.map(BusService.errorName))
        #expect(names.count == ErrorKind.allCases.count && names.allSatisfy { !$0.contains("_") })
    }
}

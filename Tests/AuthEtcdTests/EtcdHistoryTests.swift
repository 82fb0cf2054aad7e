import Testing

@testable import AuthEtcd

@Suite("The mark of etcd's history")
struct EtcdHistoryTests {
    private func entry(_ value: String) -> EtcdEntry {
        EtcdEntry(key: "/p/history", value: Array(value.utf8), modRevision: 5)
    }

    @Test("says nothing before it was read")
    func unread() {
        var history = EtcdHistory()
        #expect(!history.isRead && !history.isOther(entry("a")) && !history.isOther(nil))
        history.accept(nil)
        #expect(history.isRead && !history.isOther(nil) && history.isOther(entry("a")))
    }

    @Test("is new only if a host has written it since: a backup brings a former one back, or none")
    func former() {
        var history = EtcdHistory()
        for mark in [nil, entry("a"), entry("b")] { history.accept(mark) }
        for former in [nil, entry("a")] { #expect(history.isOther(former) && !history.isNew(former)) }
        #expect(!history.isOther(entry("b")) && !history.isNew(entry("b")))
        #expect(history.isOther(entry("c")) && history.isNew(entry("c")))
    }

    @Test("is a condition of changes as far as its value is known")
    func conditions() {
        var history = EtcdHistory()
        #expect(history.conditions(at: "/p/history").isEmpty)
        history.accept(nil)
        #expect(history.conditions(at: "/p/history") == [.changed(key: "/p/history", at: 0)])
        history.accept(entry("a"))
        #expect(history.conditions(at: "/p/history") == [.has(key: "/p/history", value: Array("a".utf8))])
        history.accept(entry(String(repeating: "x", count: 65)))
        #expect(history.conditions(at: "/p/history").isEmpty)
    }

    @Test("is remembered up to a length and a number")
    func limits() {
        var history = EtcdHistory()
        let long = String(repeating: "x", count: 64)
        history.accept(entry(long + "1"))
        #expect(!history.isOther(entry(long + "2")))
        for number in 1...8 { history.accept(entry("\(number)")) }
        #expect(history.isNew(entry(long)) && !history.isNew(entry("1")))
    }

    @Test("has the cluster in which it was written, as far as a condition can name it")
    func cluster() {
        let mark = EtcdHistory.mark(.max, in: "14841639068965178418")
        #expect(String(decoding: mark, as: UTF8.self) == "3w5e11264sgsf@14841639068965178418")
        #expect(EtcdHistory.mark(7, in: "") == Array("7".utf8))
        var history = EtcdHistory()
        history.accept(nil)
        for (cluster, counts) in [("14841639068965178418", true), ("1", false), ("", true)] {
            #expect(history.isOfThisRestore(entry(String(decoding: mark, as: UTF8.self)), in: cluster) == counts)
        }
        // Whatever etcd says that it is.
        let long = String(repeating: "9", count: 1000)
        #expect(EtcdHistory.mark(.max, in: long).count == 34)
        #expect(history.isOfThisRestore(entry("a@" + String(repeating: "9", count: 20)), in: long))
    }
}

import Testing

@testable import AuthDaemon

@Suite("Clients that must free memory")
struct BufferedBytesTests {
    private static let megabyte = 1 << 20

    private static func holder(_ process: Int32, _ megabytes: Double, _ age: Duration) -> BufferedBytes.Holder {
        BufferedBytes.Holder(process: process, bytes: Int(megabytes * Double(megabyte)), age: age)
    }

    @Test("an excess of one user, or of all, is freed down to seven eighths")
    func excess() {
        var held = BufferedBytes(BufferedBytes.Limits(perUser: 80, inAll: 160))
        held.change(by: 80, of: 1)
        held.change(by: 80, of: 2)
        #expect(held.excess(of: 1) == nil && held.excess(of: 2) == nil)
        held.change(by: -10, of: 1)
        held.change(by: 1, of: 2)
        #expect(held.excess(of: 2) == BufferedBytes.Excess(user: 2, bytes: 11))
        #expect(held.excess(of: 1) == nil)
        held.change(by: 10, of: 3)
        #expect(held.excess(of: 3) == BufferedBytes.Excess(user: nil, bytes: 21))
    }

    @Test("a process with many connections is worse than one with a single larger buffer")
    func manyConnections() {
        let holders =
            [Self.holder(7, 1, .seconds(1))] + (1...40).map { _ in Self.holder(66, 0.5, .seconds(1)) }
        #expect(BufferedBytes.worst(of: holders, toFree: Self.megabyte) == [1, 2])
    }

    @Test("a client that reads a large response is not closed for others that do not read, in any number of processes")
    func movingClient() {
        let holders =
            [Self.holder(7, 4, .zero)]
            + (1...48).map { Self.holder(100 + $0, 0.7, .seconds(Int64($0))) } + [Self.holder(8, 1, .milliseconds(1))]
        let worst = BufferedBytes.worst(of: holders, toFree: 20 * Self.megabyte)
        #expect(worst.count == 29)
        #expect(!worst.contains(0) && !worst.contains(holders.count - 1))
    }

    @Test("a client that has just filled the memory is closed before one that was stopped for an hour with few bytes")
    func stoppedClient() {
        let holders = [Self.holder(7, 0.1, .seconds(3600)), Self.holder(66, 30, .seconds(2))]
        #expect(BufferedBytes.worst(of: holders, toFree: Self.megabyte) == [1])
    }

    @Test("no more connections are closed than necessary; all of them if even that is not enough")
    func enough() {
        let holders = (1...10).map { Self.holder(Int32($0), 1, .seconds(1)) }
        #expect(BufferedBytes.worst(of: holders, toFree: 3 * Self.megabyte).count == 3)
        #expect(BufferedBytes.worst(of: holders, toFree: 3 * Self.megabyte + 1).count == 4)
        #expect(BufferedBytes.worst(of: holders, toFree: .max).count == 10)
        #expect(BufferedBytes.worst(of: [], toFree: 1).isEmpty)
    }

    @Test("the age begins when something moved: more bytes do not reset it, fewer do")
    func age() {
        var held = BufferedSince()
        let start = ExecutorInstant(sinceStart: .seconds(7))
        #expect(held.change(to: 10, at: start) == 0)
        #expect(held.change(to: 20, at: start + .seconds(1)) == 10)
        #expect(held.age(at: start + .seconds(2)) == .seconds(2))
        #expect(held.change(to: 15, at: start + .seconds(3)) == 20)
        #expect(held.age(at: start + .seconds(4)) == .seconds(1))
        #expect(held.change(to: 0, at: start + .seconds(5)) == 15)
        #expect(held.change(to: 1, at: start + .seconds(9)) == 0)
        #expect(held.age(at: start + .seconds(9)) == .zero)
    }

    @Test("processes take turns, and requests of one process stay in order")
    func turns() {
        var queue = FairQueue<String>()
        for text in ["a1", "a2", "a3", "b1", "a4", "c1", "b2"] { queue.add(text, of: Int32(text.utf8.first ?? 0)) }
        var order: [String] = []
        while let next = queue.next() {
            order.append(next)
            if next == "a1" { queue.add("d1", of: 1) }
        }
        #expect(order == ["a1", "b1", "c1", "d1", "a2", "b2", "a3", "a4"])
        #expect(queue.next() == nil)
    }

    @Test("a process that asks again and again has one first turn for each turn of a process that waits")
    func firstTurns() {
        var queue = FairQueue<String>()
        for number in 1...3 { queue.add("a\(number)", of: 1) }
        queue.add("b1", of: 2)
        var order: [String] = []
        var left = ["b4", "b3", "b2"]
        while let next = queue.next() {
            order.append(next)
            if next.hasPrefix("b"), let again = left.popLast() { queue.add(again, of: 2) }
        }
        #expect(order == ["a1", "b1", "a2", "b2", "a3", "b3", "b4"])
    }

    @Test("processes that come later get turns in the same way as the first ones, even after many turns")
    func laterTurns() {
        var queue = FairQueue<String>()
        func drained(_ texts: [String]) -> [String] {
            for text in texts { queue.add(text, of: Int32(text.utf8.first ?? 0)) }
            #expect(queue.count == texts.count)
            return Array(sequence(state: ()) { _ in queue.next() })
        }
        #expect(drained(["a1", "b1", "c1", "a2"]) == ["a1", "b1", "c1", "a2"])
        // These use the slots of the first ones.
        for _ in 1...2 {
            #expect(drained(["e1", "f1", "e2"]) == ["e1", "f1", "e2"])
            #expect(drained(["e1", "e2", "f1", "g1", "a1"]) == ["e1", "f1", "g1", "a1", "e2"])
            let processes = (UInt8(ascii: "!")...UInt8(ascii: "z")).map { Character(UnicodeScalar($0)) }
            let many = processes.flatMap { process in (1...9).map { "\(process)\($0)" } }
            #expect(drained(many) == (1...9).flatMap { number in processes.map { "\($0)\(number)" } })
        }
        #expect(queue.count == 0)
    }

    @Test("the memory for a crowd is released after its last turn")
    func releasedTurns() {
        var queue = FairQueue<Int>()
        for process in 0..<1000 { queue.add(0, of: Int32(process)) }
        while queue.next() != nil {}
        let parts = Mirror(reflecting: queue).children.compactMap { $0.value as? any Collection }
        #expect(parts.count >= 3)
        for part in parts { #expect(part.isEmpty) }
    }

    @Test("the agent keeps one descriptor in a hundred, and at least 64")
    func descriptors() {
        let limits = ConnectionLimits()
        let own = limits.bodySockets + limits.lingering + 16
        #expect(limits.connections(forDescriptors: 16_384) == 16_384 - 163 - own)
        #expect(limits.connections(forDescriptors: 16_384) > limits.connectionsPerUser)
        #expect(limits.connections(forDescriptors: 1024) == 1024 - 64 - own)
        #expect(limits.connections(forDescriptors: 64) == 16)
        // A unit has half of them, however few there are.
        for (descriptors, all) in [(32, 8), (64, 16)] {
            let few = ConnectionLimits.forDescriptors(descriptors)
            #expect(few.connectionsInAll == all)
            #expect(few.connectionsBeforeUnits + few.countedConnectionsPerUnit == all / 2)
        }
        let small = ConnectionLimits.forDescriptors(512)
        #expect(small.bodySockets == 16 && small.confinedBodySockets == 4)
        #expect(small.connectionsInAll + small.bodySockets + small.lingering + 64 < 512)
        let many = ConnectionLimits.forDescriptors(16_384)
        #expect(many.bodySockets == limits.bodySockets)
        #expect(many.connectionsBeforeUnits == limits.connectionsBeforeUnits)
        #expect(many.countedConnectionsPerUnit == limits.countedConnectionsPerUnit)
    }
}

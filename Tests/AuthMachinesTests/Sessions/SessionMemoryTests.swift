import AuthMachines
import Testing

@testable import AuthModel

/// The memory that each session always takes (Docs/decisions/memory.md).
@Suite("The memory of a session")
struct SessionMemoryTests {
    @Test func `the record and rarely present values are not in the machine itself`() {
        #expect(MemoryLayout<SessionMachine>.size < 800)
        #expect(MemoryLayout<SessionSnapshot>.size < 160)
        #expect(MemoryLayout<HandedOverSession>.size <= 16)
    }

    @Test func `the machine and the handover share one record, even after a renewal`() throws {
        var bench = MachineBench(fresh: true)
        try bench.storeTakesIt()
        var former: Shared<SessionRecord>.Box?
        for token in ["token-1", "token-2", "token-3"] {
            if former != nil {
                let renewals = bench.renewals.count
                while bench.renewals.count == renewals { _ = try bench.sleepUntilWake() }
                try bench.provider(gives: token)
                try bench.storeTakesIt()
            }
            #expect(bench.machine.record.tokens.accessToken == Secret(token))
            let handedOver = try #require(bench.handedOver)
            #expect(handedOver.isStored && !handedOver.isUnsaved)
            #expect(handedOver.$record.box === bench.machine.$record.box)
            #expect(handedOver.$record.box !== former)
            former = handedOver.$record.box
        }
    }
}

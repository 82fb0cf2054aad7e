import AuthMachines
import AuthModel
import Testing

/// Each session takes this much all the time (Docs/decisions/memory.md).
@Suite("The memory of a session")
struct SessionMemoryTests {
    @Test func `the record and what is rarely there are not in the machine itself`() {
        #expect(MemoryLayout<SessionMachine>.size < 800)
        #expect(MemoryLayout<SessionSnapshot>.size < 160)
        #expect(MemoryLayout<HandedOverSession>.size <= 16)
    }
}

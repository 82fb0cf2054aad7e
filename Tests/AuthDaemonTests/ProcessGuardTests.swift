import Testing

@testable import AuthDaemon

@Suite("Limits that the process sets")
struct ProcessGuardTests {
    @Test(
        "the number of heaps is not changed if the environment sets one",
        arguments: [
            ([:], false),
            (["MALLOC_ARENA_MAX": "4"], true),
            (["GLIBC_TUNABLES": "glibc.malloc.arena_max=4"], true),
            (["GLIBC_TUNABLES": "glibc.malloc.check=3:glibc.malloc.arena_max=4"], true),
            (["GLIBC_TUNABLES": "glibc.malloc.arena_test=4:glibc.malloc.check=3"], false),
            (["MALLOC_ARENA_TEST": "4", "GLIBC_TUNABLES": ""], false),
        ] as [([String: String], Bool)])
    func heaps(environment: [String: String], isSet: Bool) {
        #expect(ProcessGuard.limitsHeaps { environment[$0] } == isSet)
    }
}

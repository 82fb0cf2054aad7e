import Testing

@testable import AuthDaemon

@Suite("What the process asks of the system")
struct ProcessGuardTests {
    @Test(
        "the number of heaps is the administrator's, if the environment has one",
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

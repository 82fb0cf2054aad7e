import Testing

@testable import AuthDaemon

@Suite("Limits that the process sets")
struct ProcessGuardTests {
    private static let heaps: [String: CInt] = ["MALLOC_ARENA_MAX": 2]
    private static let mapped: [String: CInt] = ["MALLOC_MMAP_THRESHOLD_": 131_072]
    private static let both: [String: CInt] = ["MALLOC_ARENA_MAX": 2, "MALLOC_MMAP_THRESHOLD_": 131_072]

    @Test(
        "the heaps are limited, and large blocks are not part of them, unless the environment sets another value",
        arguments: [
            ([:], both),
            (["MALLOC_ARENA_MAX": "4"], mapped),
            (["MALLOC_MMAP_THRESHOLD_": "1048576"], heaps),
            (["GLIBC_TUNABLES": "glibc.malloc.arena_max=4"], mapped),
            (["GLIBC_TUNABLES": "glibc.malloc.check=3:glibc.malloc.arena_max=4"], mapped),
            (["GLIBC_TUNABLES": "glibc.malloc.mmap_threshold=1:glibc.malloc.arena_max=4"], [:]),
            (["GLIBC_TUNABLES": "glibc.malloc.arena_test=4:glibc.malloc.mmap_max=3"], both),
            (["MALLOC_ARENA_TEST": "4", "GLIBC_TUNABLES": ""], both),
        ] as [([String: String], [String: CInt])])
    func heapOptions(environment: [String: String], expected: [String: CInt]) {
        let set = ProcessGuard.unsetHeapOptions { environment[$0] }
        #expect(Dictionary(uniqueKeysWithValues: set.map { ($0.variable, $0.value) }) == expected)
    }
}

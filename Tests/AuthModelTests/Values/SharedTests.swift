import AuthModel
import Testing

@Suite("Values that copies share")
struct SharedTests {
    private struct Large: Sendable, Equatable {
        var numbers = (0..<64).map { $0 }
        var name = "large"
    }

    private struct Owner: Equatable {
        @Shared var value: Large
        @Boxed var rare: Large?
    }

    @Test func `changing one copy does not change the others`() {
        let first = Owner(value: Large())
        var second = first
        second.value.name = "second"
        second.rare = Large(name: "rare")
        #expect(first.value.name == "large")
        #expect(first.rare == nil)
        #expect(second.value.name == "second")
        #expect(second.rare?.name == "rare")
    }

    @Test func `equal values are equal, whether they are shared or not`() {
        let first = Owner(value: Large())
        var second = first
        #expect(first == second)
        second.value = Large()
        second.rare = nil
        #expect(first == second)
        second.rare = Large()
        #expect(first != second)
        second = Owner(value: Large(name: "other"))
        #expect(first != second)
    }

    @Test func `a property with such a value is as small as a pointer`() {
        #expect(MemoryLayout<Shared<Large>>.size == MemoryLayout<Int>.size)
        #expect(MemoryLayout<Boxed<Large>>.size == MemoryLayout<Int>.size)
    }
}

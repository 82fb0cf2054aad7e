import AuthModel
import Synchronization
import Testing

@Suite("Profile catalogs")
struct ProfileCatalogTests {
    private final class Reads: Sendable {
        private let names = Mutex<[String]>([])
        var all: [String] { names.withLock { $0 } }

        func bundled(_ name: String, title: String = "bundled") -> BundledProfile {
            BundledProfile(name) { [self] in
                names.withLock { $0.append(name) }
                return ProfileCatalogTests.profile(name, title)
            }
        }
    }

    private static func profile(_ name: String, _ title: String) -> ProviderProfile {
        ProviderProfile(
            name: name, title: title, source: title, environments: [], defaultEnvironment: "", signIn: [],
            renewal: Renewal(kind: .refresh))
    }

    @Test("a bundled profile is read when it is needed, and never if a file replaces it")
    func readWhenNeeded() {
        let reads = Reads()
        let catalog = ProfileCatalog(
            [Self.profile("a", "file")], bundled: [reads.bundled("a"), reads.bundled("b"), reads.bundled("c")])
        #expect(catalog["a"]?.title == "file" && catalog["x"] == nil)
        #expect(catalog.fromFiles.map(\.name) == ["a"])
        #expect(reads.all.isEmpty)
        #expect(catalog["b"]?.title == "bundled")
        #expect(reads.all == ["b"])
        #expect(catalog.list.map(\.name) == ["a", "b", "c"])
        #expect(!reads.all.contains("a"))
    }

    @Test("catalogs with the same profiles are equal, whether these were read or not")
    func equality() {
        let reads = Reads()
        let (one, other) = (
            ProfileCatalog(bundled: [reads.bundled("a")]), ProfileCatalog(bundled: [reads.bundled("a")])
        )
        #expect(one["a"] != nil && one == other)
        #expect(one != ProfileCatalog([Self.profile("a", "file")], bundled: [reads.bundled("a")]))
    }
}

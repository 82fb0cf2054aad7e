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
        var changes = ProfileChanges()
        changes.defaultEnvironment = "local"
        #expect(one != ProfileCatalog(bundled: [BundledProfile("a", changes: changes) { nil }]))
    }

    @Test("settings add environments, replace those of the same name, and choose the default one")
    func changes() {
        var profile = Self.profile("a", "file")
        profile.environments = [ProviderEnvironment(name: "production", baseURL: "https://a.example")]
        profile.defaultEnvironment = "production"
        #expect(ProfileChanges().isEmpty && ProfileChanges().applied(to: profile) == profile)
        var changes = ProfileChanges()
        changes.environments = [
            ProviderEnvironment(name: "local", baseURL: "http://localhost:1"),
            ProviderEnvironment(name: "production", baseURL: "https://b.example"),
        ]
        changes.defaultEnvironment = "local"
        let changed = changes.applied(to: profile)
        #expect(changed.environments.map(\.baseURL) == ["https://b.example", "http://localhost:1"])
        #expect(changed.defaultEnvironment == "local")
    }
}

import Foundation
import Testing

/// `make docs` runs Sources/Packaging/site/swift-reference with the modules of a debug build, and so do these tests.
@Suite("The reference of AuthClient", .serialized)
struct ReferenceTests {
    private let scene = PackageScene()

    @Test("is made without a warning, and has what its front page names, types of the protocol and pages to serve")
    func archive() async throws {
        try await scene.withFolder { folder in
            let made = try await scene.shell(
                "Sources/Packaging/site/swift-reference \"$1/Modules\" \"$2/AuthClient.doccarchive\"",
                try ProjectFiles.built().path, folder)
            try #require(made.isSuccess && made.err.isEmpty, "\(made.out)\(made.err)")
            let catalog = try #require(ProjectFiles.file("Sources/AuthClient/AuthClient.docc/AuthClient.md")).text
            let topics = try #require(catalog.components(separatedBy: "\n## Topics\n").last)
            let symbols = topics.matches(of: /- ``([^`]+)``/).map {
                $0.1.hasPrefix("AuthConnection/") ? String($0.1) : "AuthClient/" + $0.1
            }
            #expect(symbols.count >= 10)
            let types = ["AgentError/kind", "SessionStatus", "TokenResult/accessToken", "TokenGet"]
            for symbol in symbols + types.map({ "AuthWire/" + $0 }) {
                let page = "\(folder)/AuthClient.doccarchive/data/documentation/\(symbol.lowercased()).json"
                #expect(FileManager.default.fileExists(atPath: page), "\(symbol)")
            }
            let front = "\(folder)/AuthClient.doccarchive/documentation/authclient/index.html"
            #expect(FileManager.default.fileExists(atPath: front))
        }
    }

    @Test("is not made if its front page names what does not exist")
    func warning() async throws {
        try await scene.withFolder { folder in
            let made = try await scene.shell(
                """
                mkdir -p "$2/Sources/Packaging" "$2/Sources/AuthClient"
                cp -r Sources/Packaging/site "$2/Sources/Packaging/"
                cp -r Sources/AuthClient/AuthClient.docc "$2/Sources/AuthClient/"
                sed -i 's/- ``AgentEvents``/- ``AgentEvenings``/' "$2/Sources/AuthClient/AuthClient.docc/AuthClient.md"
                "$2/Sources/Packaging/site/swift-reference" "$1/Modules" "$2/archive"
                """, try ProjectFiles.built().path, folder)
            #expect(!made.isSuccess && (made.out + made.err).contains("AgentEvenings"), "\(made.out)\(made.err)")
            #expect(!FileManager.default.fileExists(atPath: folder + "/archive"))
        }
    }
}

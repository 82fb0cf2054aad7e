import StandInBackends
import TestSupport
import Testing

/// Registries of packages behind one sign-in.
extension Scene {
    /// - Parameter images: whether the server has a registry of images.
    static func playRegistries(
        images: Bool = false, as name: String = "forge", _ test: @escaping @Sendable (Scene, Peer) async throws -> Void
    ) async throws {
        try await play(
            signedInTo: .programs, ["repositories", images ? "images" : ""], as: name,
            with: { server in
                await server.output.wait(for: "certificate ")
                let secure = try #require(server.output.text.firstMatch(of: /TLS port ([0-9]+)/)?.1)
                return """
                    [hosts]
                    modules = "https://127.0.0.1:\(secure)"
                    [endpoints.modules]
                    method = "GET"
                    path = "/modules"
                    host = "modules"
                    """
            }, test)
    }

    /// The server's log, which has no tokens.
    func log(of server: Peer) async throws -> String {
        let log = try await run("curl -s \(server.url)/log").out
        #expect(!log.contains("token-"), "\(log)")
        return log
    }

    /// Makes an image with one empty layer in the folder `image` (OCI Image Layout).
    static let ociImage = #"""
        mkdir -p image/blobs/sha256 && cd image && echo '{"imageLayoutVersion":"1.0.0"}' > oci-layout
        type=application/vnd.oci.image
        add() { sum=$(sha256sum < "$1" | cut -d' ' -f1); size=$(stat -c %s "$1"); mv "$1" blobs/sha256/$sum; }
        tar -cf layer -T /dev/null && add layer
        part() { echo '{"mediaType": "'$type.$1'", "digest": "sha256:'$sum'", "size": '$size'}'; }
        layer=$(part layer.v1.tar)
        echo '{"architecture": "amd64", "os": "linux", "rootfs": {"type": "layers",' > config
        echo '"diff_ids": ["sha256:'$sum'"]}}' >> config; add config; config=$(part config.v1+json)
        echo '{"schemaVersion": 2, "mediaType": "'$type'.manifest.v1+json", "config": '$config',' > manifest
        echo '"layers": ['$layer']}' >> manifest; add manifest
        echo '{"schemaVersion": 2, "manifests": ['$(part manifest.v1+json)']}' > index.json
        cd ..
        """#
}

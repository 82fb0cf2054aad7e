import AuthWire
import Foundation
import TestSupport
import Testing

@Suite("The first sign-in without a store for its session", .timeLimit(.minutes(1)))
struct FirstSignInStoreTests {
    @Test(
        "it ends before anything is written, and says what to do",
        arguments: [
            (StoreKind.sealedFile, StoreState.locked, "unlock it: `authc store unlock`"),
            (.sealedFile, .failed, "cannot open the key"),
            (
                .secretService, .missing,
                "`authc config set store sealed-file`, then `authc agent restart`, then `authc store unlock`"
            ),
        ])
    func ends(kind: StoreKind, state: StoreState, advice: String) async throws {
        var store: JSONObject = ["kind": .string(kind.rawValue), "state": .string(state.rawValue)]
        if state == .failed { store["message"] = "cannot open the key" }
        let agent = try TestAgent(replies: [
            "agent.info": .success([
                "version": .string(Release.version), "protocol": .integer(Int64(Release.protocolNumber)), "pid": 1,
                "started_at": 1, "store": .object(store),
            ]),
            "provider.list": .success([
                "providers": [["name": "app-template", "title": "App template", "source": "bundled"]]
            ]),
        ])
        defer { agent.stop() }
        let terminal = try await Terminal("authc login; echo \"exit $?\"", folder: agent.folder)
        await terminal.waits(for: "Number, name or URL: ")
        terminal.type("app-template\n")
        await terminal.waits(for: "exit ")
        await terminal.ends()
        let text = terminal.text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(text.contains("authc: Nothing was changed: ") && text.contains("exit 4"), "\(text)")
        #expect(text.contains(advice), "\(text)")
        #expect(!FileManager.default.fileExists(atPath: agent.folder + "/.config"))
        #expect(!agent.requests.contains { ["provider.show", "login.start"].contains($0.method) })
    }
}

import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// Blocks of Docs/recipes.md for programs that have no separate suite of recipes.
@Suite("Recipes: hooks, MCP servers and kubectl", .serialized, .timeLimit(.minutes(2)))
struct MoreRecipeTests {
    @Test("a hook gets the event when a sign-in is required, without a token")
    func hook() async throws {
        // This backend renews by the token itself, and refuses one that has ended.
        try await Scene.play(tokenSeconds: 6) { scene in
            let settings = scene.desktop.folder.path + "/config/authd/authd.toml"
            let former = try String(contentsOfFile: settings, encoding: .utf8)
            let block = try Recipes.block(with: "on = \"session.sign_in_required\"")
            _ = try scene.desktop.folder.write(former + "\n" + block, to: "config/authd/authd.toml")
            #expect(try await scene.authc(["reload"]).status == 0)
            // The file of the recipe as a pipe: its end is an event.
            let pipe = scene.desktop.folder.path + "/home/sign-ins.jsonl"
            #expect(mkfifo(pipe, 0o600) == 0)
            let reader = try await Child(["cat", pipe], environment: scene.desktop.environment)
            #expect(try await scene.login(.appTemplate).status == 0)
            let token = try await scene.authc(["token"]).out.trimmingCharacters(in: .newlines)
            let watch = try await Child(
                [Programs.authc, "watch", "--json"], environment: scene.desktop.environment)
            try await scene.backends.setListening(false, .appTemplate)
            #expect(await watch.out.wait(for: #""state":"stale""#))
            try await scene.backends.setListening(true, .appTemplate)
            let output = await reader.output()
            let event = try JSON(parsing: output.out)
            #expect(event["session"] == "app-template" && event["status"]?["state"] == "sign_in_required", "\(output)")
            #expect(!token.isEmpty && !output.out.contains(token))
            await watch.end()
        }
    }

    @Test("the line for an MCP server is a bridge that asks for the sign-in of the recipe")
    func bridge() async throws {
        let server = try JSON(parsing: try Recipes.block(with: "\"mcpServers\""))["mcpServers"]?["mcp"]
        #expect(server?["command"] == "authc")
        let words = server?["args"]?.arrayValue?.compactMap(\.stringValue) ?? []
        let login = try Recipes.block(with: "authc login https://mcp").trimmingCharacters(in: .newlines)
        #expect(words.first == "mcp" && words.last.map { login == "authc login \($0)" } == true, "\(words) \(login)")
        try await Scene.play { scene in
            try await Peer.running(.mcp, in: scene.desktop) { server in
                let url = try #require(words.last).replacing("https://mcp.example.org", with: server.url)
                let before = try await HeldBridge(url, on: scene.desktop)
                let refusal = try await before.ask(HeldBridge.initialize)
                #expect(refusal["error"]?["message"]?.stringValue?.contains("authc login \(url)") == true, "\(refusal)")
                await before.child.end()
                let (signIn, address) = try await scene.beginInBrowser(at: url)
                _ = try await scene.get(address)
                #expect(await signIn.output().status == 0)
                let after = try await HeldBridge(url, on: scene.desktop)
                #expect(try await after.ask(HeldBridge.initialize)["result"] != nil)
                await after.child.end()
            }
        }
    }

    @Test("kubectl reads the block as a separate file, beside one with the cluster")
    func kubernetes() async throws {
        try await Scene.playRegistries { scene, server in
            let secure = try #require(server.output.text.firstMatch(of: /TLS port ([0-9]+)/)?.1)
            let shown = try await scene.run("kubectl version --client -o json 2>/dev/null")
            let minor = try #require(
                try JSON(parsing: shown.out)["clientVersion"]?["minor"]?.stringValue?.firstMatch(of: /^[0-9]+/)?.0)
            var block = try Recipes.block(with: "provideClusterInfo: true")
            #expect(block.contains("client.authentication.k8s.io/v1\n"))
            // As the text below the block says.
            if try #require(Int(minor)) < 22 { block = block.replacing("k8s.io/v1\n", with: "k8s.io/v1beta1\n") }
            _ = try scene.desktop.folder.write(block, to: "home/users")
            _ = try scene.desktop.folder.write(
                """
                apiVersion: v1
                kind: Config
                current-context: one
                clusters: [{name: one, cluster: {server: "https://127.0.0.1:\(secure)", insecure-skip-tls-verify: true}}]
                contexts: [{name: one, context: {cluster: one, user: ada}}]
                """, to: "home/cluster")
            let version = try await scene.run("KUBECONFIG=$HOME/cluster:$HOME/users kubectl get --raw /version")
            #expect(version.status == 0 && version.out.contains("v1.32.0"), "\(version.out) \(version.err)")
            #expect(try await scene.run("curl -s \(server.url)/log").out.contains("GET /version Bearer"))
        }
    }
}

import Foundation
import StandInBackends
import TestSupport
import Testing

/// The recipes for a remote machine and a sandbox, with real ssh, sshd and bwrap.
@Suite("Recipes: the extra socket elsewhere", .timeLimit(.minutes(2)))
struct RemoteRecipeTests {
    @Test("over ssh -R the listed session is there, a listed call works, and a token is refused")
    func remote() async throws {
        try await Scene.playExtra { scene in
            let (folder, options) = try await scene.prepareSSH()
            let recipe = try Recipes.block(with: "ssh -R").split(separator: "\n").last.map(String.init) ?? ""
            #expect(recipe.contains("/run/user/1000/authd-remote") && recipe.hasSuffix(" build.example.org"))
            let command = recipe.replacing("/run/user/1000/authd-remote", with: folder + "/remote")
                .replacing(" build.example.org", with: " " + options)
            func there(_ arguments: String) async throws -> Child.Output {
                try await scene.shell("\(command) AUTHD_SOCKET=\(folder)/remote $0 \(arguments)")
            }
            let list = try await there("list")
            #expect(list.status == 0 && list.out.contains("app-template"), "\(list)")
            #expect(!list.out.contains("envelope"), "\(list)")
            let users = try await there("call users")
            #expect(users.status == 0 && users.out.contains("ada@example.org"), "\(users)")
            let token = try await there("token")
            #expect(token.status == 77 && token.out.isEmpty, "\(token)")
        }
    }

    @Test("in bwrap the mounted folder gives the listed session, and the main socket no more than that")
    func sandbox() async throws {
        try await Scene.playExtra { scene in
            let recipe = try Recipes.block(with: "bwrap --ro-bind").trimmingCharacters(in: .newlines)
            #expect(recipe.hasSuffix("authc list"))
            let inside = String(recipe.dropLast("authc list".count))
            let list = try await scene.shell(inside + "$0 list")
            #expect(list.status == 0 && list.out.contains("app-template"), "\(list)")
            #expect(!list.out.contains("envelope"), "\(list)")
            let token = try await scene.shell(inside + "$0 token")
            #expect(token.status == 77 && token.out.isEmpty, "\(token)")
            let hidden = try await scene.shell(inside + "ls \"$XDG_RUNTIME_DIR\"")
            #expect(hidden.out == "authd-extra\n", "\(hidden)")
            // The main socket in the same sandbox.
            let other = inside.replacing("authd-extra", with: "authd")
            let reached = try await scene.shell("\(other)$0 list && \(other)$0 token")
            #expect(reached.status == 77 && reached.out.contains("app-template"), "\(reached)")
            #expect(!reached.out.contains("envelope") && reached.err.contains("sandbox"), "\(reached)")
        }
    }
}

import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// What a shell offers, by bash's own way of asking.
@Suite("Completion", .timeLimit(.minutes(1)))
struct CompletionTests {
    @Test("bash completes the endpoints of the session's provider, and nothing without a session")
    func endpoints() async throws {
        try await Scene.play { scene in
            #expect(try await scene.offered("call", "restaurant").isEmpty)
            _ = try await scene.login(.forkInTheRoad)
            let offered = try await scene.offered("call", "restaurant")
            #expect(offered.isSuperset(of: ["restaurants", "restaurant"]), "\(offered)")
            #expect(!offered.contains("vote"), "\(offered)")
            _ = try await scene.login(.appTemplate)
            #expect(try await scene.offered("call", "-s", "app-template", "search") == ["search-users"])
            #expect(
                try await scene.offered("call", "-s", "fork-in-the-road", "search").isDisjoint(with: ["search-users"]))
        }
    }

    @Test("bash completes providers and sessions")
    func names() async throws {
        try await Scene.play { scene in
            #expect(try await scene.offered("login", "a") == ["anonymous-wall", "app-template", "aws-lambda"])
            #expect(try await scene.offered("use", "").isEmpty)
            _ = try await scene.login(.appTemplate)
            #expect(try await scene.offered("use", "") == ["app-template"])
            #expect(try await scene.offered("token", "-s", "app") == ["app-template"])
        }
    }

    @Test("a user changes their account with --set; an invalid change is reported before anything is sent")
    func changesAccount() async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.appTemplate)
            let changed = try await scene.authc(["whoami", "--set", "name=Ada King", "--json"])
            #expect(changed.status == 0 && changed.out.contains("Ada King"), "\(changed.out)\(changed.err)")
            #expect(try await scene.agent.status("app-template").user?.name == "Ada King")
            let refused = try await scene.authc(["whoami", "--set", "shoe_size=42"])
            #expect(refused.status == 65 && refused.err.contains("shoe_size"), "\(refused.err)")
        }
    }
}

extension Scene {
    /// What bash offers for the last of the words.
    fileprivate func offered(_ words: String...) async throws -> Set<String> {
        let typed = words.map { "'\($0)'" }.joined(separator: " ")
        let (last, former) = (words.last ?? "", words.dropLast().last ?? "")
        let result = try await shell(
            """
            source <("$0" --generate-completion-script bash) && COMP_WORDS=("$0" \(typed)) COMP_CWORD=\(words.count) &&
            COMP_LINE="$0 \(words.joined(separator: " "))" COMP_POINT=${#COMP_LINE} &&
            { _authc "$0" '\(last)' '\(former)' 2>/dev/null || true; } && printf '%s\\n' "${COMPREPLY[@]}"
            """)
        #expect(result.status == 0, "\(result.err)")
        return Set(result.out.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }).subtracting([""])
    }
}

import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// What a shell offers behind `authc call`, by bash's own way of asking.
@Suite("Completion", .timeLimit(.minutes(1)))
struct CompletionTests {
    @Test("bash completes the endpoints of the session's provider, and nothing where nobody is signed in")
    func endpoints() async throws {
        try await Scene.play { scene in
            let line = """
                source <("$0" --generate-completion-script bash) && COMP_WORDS=("$0" call restaurant) COMP_CWORD=2 &&
                COMP_LINE="$0 call restaurant" COMP_POINT=${#COMP_LINE} && { _authc "$0" restaurant call 2>/dev/null || true; } &&
                printf '%s\\n' "${COMPREPLY[@]}"
                """
            let before = try await scene.shell(line)
            #expect(before.status == 0 && !before.out.contains("restaurant"), "\(before.out)\(before.err)")
            _ = try await scene.login(.forkInTheRoad)
            let after = try await scene.shell(line)
            let offered = Set(after.out.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) })
            #expect(offered.isSuperset(of: ["restaurants", "restaurant"]), "\(after.out)\(after.err)")
            #expect(!offered.contains("vote"), "\(offered)")
        }
    }

    @Test("a person changes their account with --set; what may not be changed is told before anything is sent")
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

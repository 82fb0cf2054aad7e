import AuthWire
import StandInBackends
import TestSupport
import Testing

/// dunst, a notification server of desktops, on a virtual screen.
@Suite("A question on a real server", .serialized, .timeLimit(.minutes(2)))
struct ConsentButtonTests {
    private static let rules = "enforce = true\n[[rule]]\nname = \"asked\"\neffect = \"ask\"\nclass = \"token\"\n"

    @Test(
        "a button is the answer, although the server closes the notification at the click",
        arguments: ["Allow once", "Allow for an hour", "Refuse"])
    func button(label: String) async throws {
        try await Scene.play { scene in
            let screen = try await NotificationScreen(on: scene.desktop, choosing: label)
            #expect(try await scene.login(.appTemplate).status == 0)
            try scene.writePolicy(Self.rules)
            #expect(try await scene.ask("policy.apply", ["accepted": .string(Self.rules)])["applied"] == true)
            let waiting = try await Child([Programs.authc, "token"], environment: scene.desktop.environment)
            #expect(await screen.shown.wait(for: "\"refuse\": \"Refuse\""))
            let chosen = try await screen.screen.run(["dunstctl", "context"])
            #expect(chosen.status == 0, "\(chosen)")
            let output = await waiting.output()
            #expect(output.status == (label == "Refuse" ? 77 : 0), "\(output)")
            #expect(try await until { try await screen.count() == 0 })
            await screen.end()
        }
    }
}

import AuthWire
import Foundation
import StandInBackends
import Synchronization
import TestSupport
import Testing

extension Scene {
    /// At the end of every scene: everything that its agents logged at any level, and sent to the service manager.
    func expectNoSecretInLogs() async {
        let search = SecretSearch(backends.secrets)
        var texts: [String: String] = [:]
        for (number, agent) in agents.withLock({ $0 }).enumerated() {
            await agent.child.end()
            texts["the log of agent \(number)"] = agent.child.err.text + agent.child.out.text
            texts["what agent \(number) told the service manager"] = agent.notifications.received
        }
        #expect(search.findings(in: texts).isEmpty)
    }

    /// Everything else that anybody may read, while sessions are there; then ends the agent.
    func expectNoSecretInLog() async throws {
        let secrets = backends.secrets
        let search = SecretSearch(secrets)
        #expect(secrets.count >= 3 && !search.isEmpty)
        var texts: [String: String] = [:]
        for command in [["status"], ["list"], ["doctor"], ["network"], ["version"], ["prompt"], ["outbox"]] {
            for form in [[], ["--json"]] {
                let output = try await agent.authc(command + form)
                texts["authc \((command + form).joined(separator: " "))"] = output.out + output.err
            }
        }
        texts["agent.stats"] = try await ask("agent.stats", [:]).text()
        let prompt = desktop.folder.path + "/run/authd/prompt"
        texts["the prompt file"] = try String(contentsOfFile: prompt, encoding: .utf8)
        #expect(texts.count == 16)
        try await agent.child.end()
        let log = try agent.child.err.text + agent.child.out.text
        #expect(log.contains("Session is active"))
        texts["the log"] = log
        #expect(search.findings(in: texts).isEmpty)
        // Codes are too short to be looked for everywhere.
        for secret in secrets { #expect(!log.contains(secret), "a secret stands in the log") }
    }
}

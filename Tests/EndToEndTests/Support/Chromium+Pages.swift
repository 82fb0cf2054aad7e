import Foundation
import TestSupport

/// What a test of pages needs beside the user's keys and clicks.
extension Chromium {
    enum Log: String {
        /// What pages and the browser report about them.
        case browser
        /// Events of the DevTools protocol.
        case performance
    }

    /// Pages are shown as on a screen of this width from now on.
    func setScreen(width: Int, isDark: Bool = false) async throws {
        try await command(
            "Emulation.setDeviceMetricsOverride",
            ["width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500])
        let scheme = ["name": "prefers-color-scheme", "value": isDark ? "dark" : "light"]
        try await command("Emulation.setEmulatedMedia", ["features": [scheme]])
    }

    /// Scripts of pages do not run from now on; ``script(_:)`` still does.
    func disableScripts() async throws {
        try await command("Emulation.setScriptExecutionDisabled", ["value": true])
    }

    /// The messages since the last call.
    func log(_ kind: Log) async throws -> [String] {
        let entries = try await ask("POST", "/se/log", ["type": kind.rawValue]) as? [[String: Any]] ?? []
        return entries.compactMap { $0["message"] as? String }
    }

    /// The addresses of all requests since the last call.
    func requests() async throws -> [String] {
        try await log(.performance).compactMap { text in
            let entry = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
            guard let message = entry?["message"] as? [String: Any],
                message["method"] as? String == "Network.requestWillBeSent",
                let parameters = message["params"] as? [String: Any],
                let request = parameters["request"] as? [String: Any]
            else { return nil }
            return request["url"] as? String
        }
    }

    private func command(_ name: String, _ parameters: [String: Any]) async throws {
        _ = try await ask("POST", "/goog/cdp/execute", ["cmd": name, "params": parameters])
    }
}

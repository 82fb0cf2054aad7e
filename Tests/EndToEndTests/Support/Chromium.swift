import Foundation
import TestSupport

/// A real browser without a screen, driven by the W3C's WebDriver protocol.
struct Chromium: Sendable {
    private let session: String
    private let desktop: Desktop

    /// Runs one for as long as the test.
    /// - Parameters:
    ///   - schemes: by the origin of a page, the schemes that it may open without asking the user.
    ///   - logs: whether ``log(_:)`` can be called: of what pages report, and of their requests.
    ///   - variables: of the environment, besides the desktop's.
    static func running(
        in desktop: Desktop, arguments: [String] = [], schemes: [String: String] = [:], logs: Bool = false,
        with variables: [String: String] = [:], _ test: @Sendable (Chromium) async throws -> Void
    ) async throws {
        let (driver, port) = try await Self.driver(environment: desktop.environment.merging(variables) { $1 })
        let options: [String: Any] = [
            "args": [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-proxy-server",
            ] + arguments,
            // As the tick under the browser's own question writes it.
            "prefs": ["protocol_handler.allowed_origin_protocol_pairs": schemes.mapValues { [$0: true] }],
        ]
        var required: [String: Any] = ["goog:chromeOptions": options]
        if logs { required["goog:loggingPrefs"] = ["browser": "ALL", "performance": "ALL"] }
        let wanted = ["capabilities": ["alwaysMatch": required]]
        let root = "http://127.0.0.1:\(port)/session"
        let answer = try await Self.ask(desktop, "POST", root, wanted)
        guard let id = (answer as? [String: Any])?["sessionId"] as? String else { throw Failure("\(answer)") }
        let browser = Chromium(session: root + "/" + id, desktop: desktop)
        let result: Result<Void, any Error>
        do {
            try await test(browser)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        _ = try? await Self.ask(desktop, "DELETE", browser.session, nil)
        await driver.end()
        try result.get()
    }

    /// Starts a driver. It takes a free port of `::1`, and then requires the same port of 127.0.0.1. If another process
    /// has that one, the driver ends, and another one is started.
    private static func driver(environment: [String: String]) async throws -> (Child, port: Substring) {
        var texts: [String] = []
        for _ in 0..<10 {
            let driver = try await Child(["chromedriver", "--port=0"], environment: environment)
            if await driver.out.wait(for: "successfully on port"), await driver.out.wait(for: ".\n"),
                let port = driver.out.text.firstMatch(of: /successfully on port (\d+)/)?.1
            {
                return (driver, port)
            }
            await driver.end()
            texts.append(driver.out.text + driver.err.text)
            guard texts.last?.contains("port not available") == true else { break }
        }
        throw Failure("no chromedriver: \(texts)")
    }

    /// Returns when the page has loaded.
    func open(_ url: String) async throws {
        _ = try await ask("POST", "/url", ["url": url])
    }

    func type(_ text: String, into selector: String) async throws {
        _ = try await ask("POST", "/element/\(element(selector))/value", ["text": text])
    }

    func click(_ selector: String) async throws {
        _ = try await ask("POST", "/element/\(element(selector))/click", [:])
    }

    func title() async throws -> String { try await ask("GET", "/title") as? String ?? "" }

    func text() async throws -> String { try await script("return document.body.innerText") as? String ?? "" }

    /// How many scripts the page has.
    func scripts() async throws -> Int { try await script("return document.scripts.length") as? Int ?? -1 }

    /// How many things it had fetched besides itself.
    func fetched() async throws -> Int {
        let count =
            "return performance.getEntriesByType('resource').filter(r => !r.name.endsWith('favicon.ico')).length"
        return try await script(count) as? Int ?? -1
    }

    func script(_ text: String) async throws -> Any {
        try await ask("POST", "/execute/sync", ["script": text, "args": []])
    }

    private func element(_ selector: String) async throws -> String {
        let found = try await ask("POST", "/element", ["using": "css selector", "value": selector])
        guard let id = (found as? [String: String])?.values.first else { throw Failure("no \(selector): \(found)") }
        return id
    }

    func ask(_ method: String, _ path: String, _ body: [String: Any]? = nil) async throws -> Any {
        try await Self.ask(desktop, method, session + path, body)
    }

    private static func ask(
        _ desktop: Desktop, _ method: String, _ url: String, _ body: [String: Any]?
    ) async throws -> Any {
        var command = ["curl", "--silent", "--noproxy", "*", "--max-time", "60", "--request", method, url]
        if let body {
            let text = String(decoding: try JSONSerialization.data(withJSONObject: body), as: UTF8.self)
            command += ["--header", "Content-Type: application/json", "--data-binary", text]
        }
        let output = try await desktop.run(command)
        let answer = try JSONSerialization.jsonObject(with: Data(output.out.utf8)) as? [String: Any]
        guard let value = answer?["value"] else { throw Failure("\(method) \(url): \(output.out)\(output.err)") }
        if let error = (value as? [String: Any])?["error"] as? String { throw Failure("\(method) \(url): \(error)") }
        return value
    }
}

import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// `authc stats`, and its metrics as Prometheus's own library and promtool read them.
@Suite("Statistics", .timeLimit(.minutes(2)))
struct StatsTests {
    private static let fork = "fork-in-the-road"

    /// A session with one renewal that succeeded, and one that failed.
    private func withRenewals(_ test: @escaping @Sendable (Scene) async throws -> Void) async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.forkInTheRoad)
            #expect(try await scene.authc(["refresh", "-s", Self.fork]).status == 0)
            try await scene.backends.setListening(false, .forkInTheRoad)
            #expect(try await scene.authc(["refresh", "-s", Self.fork]).status == 75)
            try await test(scene)
        }
    }

    /// The metrics as the library reads them, by name and labels.
    private func read(_ text: String, as format: String) async throws -> JSON {
        let reader = try Peer.Program.metricsReader.command([format])
        let read = try await Child(reader, environment: [:], input: .text(text)).output()
        guard read.status == 0 else { throw Failure("\(read.err)\n\(text)") }
        return try JSON(parsing: read.out)
    }

    @Test("the metrics name sessions, outcomes and durations", arguments: ["openmetrics", "prometheus"])
    func metrics(format: String) async throws {
        try await withRenewals { scene in
            let printed = try await scene.authc(["stats", "--metrics", format])
            #expect(printed.status == 0, "\(printed.err)")
            #expect(printed.out.hasSuffix("# EOF\n") == (format == "openmetrics"))
            let metrics = try await read(printed.out, as: format)
            let samples = try #require(metrics["samples"])
            let provider = "provider=\(Self.fork)"
            #expect(samples["authd_token_request_failures_total{cause=connection_refused,\(provider)}"] == 1)
            #expect(samples["authd_token_request_seconds_count{\(provider)}"] == 2)
            #expect(samples["authd_token_request_seconds_bucket{le=+Inf,\(provider)}"] == 2)
            let sum = try #require(samples["authd_token_request_seconds_sum{\(provider)}"]?.doubleValue)
            #expect(sum >= 0)
            #expect(samples["authd_renewals_total{}"] == 1)
            let session = "\(provider),session=\(Self.fork)"
            #expect(samples["authd_session_active{\(session)}"] == 1)
            #expect(samples["authd_session_sign_in_required{\(session)}"] == 0)
            let issued = try #require(samples["authd_token_issued_timestamp_seconds{\(session)}"]?.doubleValue)
            let end = try #require(samples["authd_token_end_timestamp_seconds{\(session)}"]?.doubleValue)
            #expect(issued < end)
            #expect(samples["authd_outbox_writes{state=waiting}"] == 0)
            #expect(metrics["types"]?["authd_token_request_seconds"] == "histogram")
            #expect(SecretSearch(scene.backends.secrets).findings(in: ["metrics": printed.out]).isEmpty)
            guard format == "prometheus" else { return }
            // Prometheus's own rules about names, units and types.
            let check = try await Child(
                ["promtool", "check", "metrics"], environment: ["PATH": "/usr/bin:/bin"], input: .text(printed.out)
            ).output()
            #expect(check.status == 0 && check.out.isEmpty && check.err.isEmpty, "\(check)")
        }
    }

    @Test("a file is replaced at once, JSON has the same counts, and a reader gets lines that fit")
    func forms() async throws {
        try await withRenewals { scene in
            let file = scene.desktop.folder.path + "/authd.prom"
            for _ in 1...2 {
                let written = try await scene.authc(["stats", "--metrics", "prometheus", "--output", file])
                #expect(written.status == 0 && written.out.isEmpty, "\(written.err)")
            }
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(text.contains("authd_session_active{session=\"\(Self.fork)\",provider=\"\(Self.fork)\"} 1\n"))
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: scene.desktop.folder.path).allSatisfy {
                    !$0.contains(".authc-")
                })

            let json = try await scene.agent.json("stats")
            let counts = try #require(json["token_requests"]?[0])
            #expect(counts["provider"] == .string(Self.fork) && counts["succeeded"] == 1)
            #expect(counts["failed"] == ["connection_refused": 1])
            #expect((counts["within"]?["30000"]?.integerValue ?? 3) <= 2)

            // In lines of 80 columns.
            let words = try await scene.authc(["stats"]).out.split(whereSeparator: \.isWhitespace)
            let lines = words.joined(separator: " ")
            #expect(lines.contains("2 requests for tokens"), "\(lines)")
            #expect(lines.contains("1 failed (connection refused)"), "\(lines)")
        }
    }

    @Test("open connections are counted: those that are held, and that of the question itself")
    func connections() async throws {
        try await Scene.play { scene in
            var watches: [Child] = []
            for held in 0...2 {
                // The agent may notice the end of an earlier command after it has accepted the next one.
                var seen = ""
                let isCounted = try await until {
                    let printed = try await scene.authc(["stats", "--metrics", "openmetrics"])
                    let count = try await read(printed.out, as: "openmetrics")["samples"]?["authd_connections{}"]
                    let text = try await scene.authc(["stats"]).out
                    seen = "\(count?.text() ?? "-") \(text)"
                    return count?.integerValue == Int64(held + 1) && text.contains(", \(held + 1) connection")
                }
                #expect(isCounted, "\(held) are held: \(seen)")
                let watch = try await Child(
                    [Programs.authc, "watch", "--json"], environment: scene.desktop.environment)
                #expect(await watch.out.wait(for: "snapshot"))
                watches.append(watch)
            }
            for watch in watches { await watch.end() }
        }
    }

    @Test("with a locked keyring, the agent's own figures and the store's state are there")
    func locked() async throws {
        try await Scene.play(keyring: false) { scene in
            let printed = try await scene.authc(["stats", "--metrics", "openmetrics"])
            #expect(printed.status == 0, "\(printed.err)")
            let samples = try #require(try await read(printed.out, as: "openmetrics")["samples"])
            #expect(samples["authd_store_ready{kind=secret-service}"] == 0)
            #expect(samples["authd_requests_total{}"] != nil)
            #expect(try await scene.authc(["stats"]).out.contains("missing"))
        }
    }

    @Test("wrong options are explained")
    func usage() async throws {
        try await Scene.play { scene in
            let xml = try await scene.authc(["stats", "--metrics", "xml"])
            #expect(xml.status == 64 && xml.err.contains("is not one of openmetrics, prometheus"), "\(xml.err)")
            let file = try await scene.authc(["stats", "--output", "figures"])
            #expect(file.status == 64 && file.err.contains("--metrics prometheus"), "\(file.err)")
            let both = try await scene.authc(["stats", "--json", "--metrics", "prometheus"])
            #expect(both.status == 64, "\(both.err)")
        }
    }
}

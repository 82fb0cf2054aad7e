import Foundation
import Testing

/// The page writer runs with a few rows: `make bench` itself takes long.
@Suite("The page of make bench")
struct PerformancePageTests {
    private let scene = PackageScene()

    /// Writes what `make bench` leaves, then the page.
    private func written(rows: [String], text: String = "", failed: String = "") async throws -> String {
        var page = ""
        try await scene.withFolder { folder in
            let files = [
                "rows": rows, "sections": ["Programs without symbols\t\t\(text)", "Times\tours|theirs|p99\t"],
                "points": ["Growth\tauthd\t1\t10", "Growth\tauthd\t10\t100"],
                "facts": [
                    "command\tROUNDS=1 make bench", "commit\t0123abcd with changes", "left_out\tidle scale",
                    "failed\t\(failed)", "rounds\t1", "disturbance_rounds\t5",
                    "rare_rounds\t3", "rare_seconds\t10", "stream_rounds\t7", "seconds\t90", "missing\tgh ",
                ],
            ]
            for (name, lines) in files {
                let text = lines.map { $0 + "\n" }.joined()
                try text.write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
            }
            let outcome = try await scene.shell(#"Tests/Benchmarks/page "$1" "$1" "$1/page.md""#, folder)
            #expect(outcome.isSuccess, "\(outcome.err)")
            page = try String(contentsOfFile: "\(folder)/page.md", encoding: .utf8)
            #expect(FileManager.default.fileExists(atPath: "\(folder)/performance-growth.svg"))
        }
        return page
    }

    @Test("says how it was run, and has each section with its text, its columns and its plot")
    func tables() async throws {
        let page = try await written(
            rows: ["Times\ttoken\t1.10\t1.3\tkept\t5 µs\t4 µs", "Programs without symbols\tauthc\t870\t-\t\tkB"],
            text: "By size.")
        let line = "Run as `ROUNDS=1 make bench`, in 2 minutes."
        let rest =
            " Parts that were not run: `idle`, `scale`. Not compared, because they are not installed: gh.\n"
        #expect(page.contains(line) && page.contains(rest) && page.contains(", commit 0123abcd with changes; "))
        #expect(!page.contains("not complete"))
        #expect(page.contains("## Programs without symbols\n\nBy size.\n\n| measured | seen | budget |  |  |\n"))
        #expect(page.contains("| authc | 870 |  |  | kB |\n"))
        #expect(page.contains("| measured | seen | budget |  | ours | theirs | p99 |\n"))
        #expect(page.contains("| token | 1.10 | 1.3 |  | 5 µs | 4 µs |  |\n"))
        #expect(page.contains("![Growth](performance-growth.svg)"))
        #expect(page.hasSuffix("## Budgets that are not kept\n\nAll budgets are kept.\n"))
    }

    @Test("says which part failed")
    func incomplete() async throws {
        let page = try await written(rows: ["Times\ttoken\t1.10\t1.3\tkept\t5 µs"], failed: "streams")
        let text = " **This page is not complete**: `streams` failed. Parts that were not run: `idle`, `scale`."
        #expect(page.contains(text) && page.contains("| token | 1.10 | 1.3 |"))
    }

    @Test("gives the reason for each budget that is not kept once, and names those without one")
    func reasons() async throws {
        let page = try await written(rows: [
            "Programs without symbols\tauthd\t38472\t30720\tOVER\tkB",
            "Programs without symbols\tauthc-full\t1\t0\tOVER\tkB",
            "Times\ttoken\t9\t1\tOVER\t5 µs\t4 µs\t",
        ])
        let reasons = try #require(page.split(separator: "## Budgets that are not kept\n\n").last)
        #expect(reasons.hasPrefix("- **Size of the programs**: "))
        #expect(reasons.ranges(of: "\n- ").count == 1)
        #expect(reasons.hasSuffix("\n- **Times: token**: no reason is known yet.\n"))
    }

    @Test("every budget that the published page does not keep has a reason there")
    func published() throws {
        let page = try #require(ProjectFiles.file("Docs/performance.md")).text
        #expect(!page.contains("no reason is known yet") && !page.contains("not complete"))
    }

    @Test("each script of the benchmarks that has a first line for its program can be started")
    func scripts() {
        let scripts = ProjectFiles.files(under: "Tests/Benchmarks").filter { $0.text.hasPrefix("#!") }
        #expect(scripts.count >= 6)
        for script in scripts {
            let path = ProjectFiles.root.path + "/" + script.path
            #expect(FileManager.default.isExecutableFile(atPath: path), "\(script.path)")
        }
    }

    /// Runs `script` with the functions of rows.bash and `lines` as the rounds, and returns the rows that it makes.
    private func rowsMade(of lines: String, _ script: String) async throws -> String {
        var rows = ""
        try await scene.withFolder { folder in
            try lines.write(toFile: folder + "/times", atomically: true, encoding: .utf8)
            let outcome = try await scene.shell(
                """
                world=$1
                fail() { echo "$1" >&2; exit 1; }
                source Tests/Benchmarks/rows.bash
                \(script)
                """, folder)
            #expect(outcome.isSuccess, "\(outcome.err)")
            rows = try String(contentsOfFile: folder + "/rows", encoding: .utf8)
        }
        return rows
    }

    @Test("beside a disturbance, the median counts, over the smallest figure without it, and the echo does not")
    func disturbed() async throws {
        let lines = "50 220 9000 3 answered\n900 90 10 2 answered\n100 190 10 1 answered\n"
        let rows = try await rowsMade(of: lines, "beside_row loud 3.0; beside_row quiet 4.0")
        let figures = "50 µs\t190 µs\t10 µs\t1 answered\n"
        #expect(rows == "\tloud\t3.80\t3.0\tOVER\t\(figures)\tquiet\t3.80\t4.0\tkept\t\(figures)")
    }

    @Test("the worse one of two rounds counts")
    func twoRounds() async throws {
        let rows = try await rowsMade(of: "5 4 9 8 1.20\n5 4 9 8 1.40\n", "middle_row token 1.3 1")
        #expect(rows == "\ttoken\t1.40\t1.3\tOVER\t5 µs beside 4 µs in C\n")
    }
}

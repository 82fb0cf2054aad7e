import Foundation
import TestSupport
import Testing

/// Ordinary users may not raise the priority of a thread (setpriority(2)), and libdispatch reports that to syslog(3). A library
/// makes any user an ordinary one in these tests, and prints syslog messages to stderr.
@Suite("The log of an ordinary user", .timeLimit(.minutes(2)))
struct FirstLogLineTests {
    private static let library = """
        #include <errno.h>
        #include <stdarg.h>
        #include <stdio.h>
        int setpriority(int which, unsigned who, int value) {
            if (value >= 0) return 0;
            dprintf(2, "refused: setpriority\\n");
            errno = EACCES;
            return -1;
        }
        void vsyslog(int priority, const char *format, va_list arguments) {
            char message[1024];
            vsnprintf(message, sizeof message, format, arguments);
            // In one write: other threads write lines, too.
            dprintf(2, "syslog: %s\\n", message);
        }
        void __vsyslog_chk(int priority, int flag, const char *format, va_list arguments) {
            vsyslog(priority, format, arguments);
        }
        void syslog(int priority, const char *format, ...) {
            va_list arguments;
            va_start(arguments, format);
            vsyslog(priority, format, arguments);
            va_end(arguments);
        }
        """

    /// The agent's complete output.
    private static func lines(_ variables: [String: String] = [:]) async throws -> [Substring] {
        let home = try Home()
        let source = try home.folder.write(library, to: "library.c")
        let file = home.folder.path + "/library.so"
        let path = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"]
        let made = try await Child(["gcc", "-shared", "-fPIC", "-o", file, source], environment: path).output()
        guard made.status == 0 else { throw Failure("gcc: \(made.err)") }
        let authd = try await Program(
            home, ["--store", "memory"], variables: variables.merging(["LD_PRELOAD": file]) { $1 })
        try await authd.ready()
        #expect(await authd.end() == 0)
        return await authd.errors().split(separator: "\n")
    }

    @Test("begins with a line of authd: libdispatch does not report its refused priority")
    func first() async throws {
        let lines = try await Self.lines()
        #expect(!lines.contains { $0.hasPrefix("syslog: ") }, "\(lines)")
        let first = try #require(lines.first { !$0.hasPrefix("refused: ") })
        #expect(first.contains(#/^\d{4}-\d\d-\d\dT[\d:]+[+-]\d{4} [a-z]+: /#), "\(first)")
        // Otherwise there was nothing to report, and the test proves nothing.
        #expect(lines.contains("refused: setpriority"))
    }

    @Test("has libdispatch's report if it was requested")
    func askedFor() async throws {
        let lines = try await Self.lines(["LIBDISPATCH_LOG": "syslog"])
        #expect(lines.contains { $0.hasPrefix("syslog: ") && $0.contains("priority") }, "\(lines)")
    }
}

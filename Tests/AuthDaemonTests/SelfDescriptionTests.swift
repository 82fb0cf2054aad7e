import AuthSockets
import AuthWire
import Logging
import Synchronization
import Testing

@testable import AuthDaemon

@Suite("What the agent reports about itself")
struct SelfDescriptionTests {
    @Test("the status line has states and causes, and only session names of the user")
    func statusLine() throws {
        let active = SessionStatus(
            session: try SessionName("shop"), provider: "p", state: .active, user: UserSummary(email: "ada@example.org")
        )
        let stale = SessionStatus(session: try SessionName("wiki"), provider: "p", state: .stale, cause: "offline")
        let ready = StoreInfo(kind: .sealedFile, state: .ready)
        #expect(StatusLine.text(sessions: [active, stale], store: ready) == "shop active, wiki stale (offline)")
        let memory = StoreInfo(kind: .memory, state: .ready)
        #expect(StatusLine.text(sessions: [active], store: memory) == "shop active, in memory until authd ends")
        let locked = StoreInfo(kind: .secretService, state: .locked)
        #expect(StatusLine.text(sessions: [], store: locked) == "store secret-service locked, nobody signed in")
        let sealed = StoreInfo(kind: .etcd, state: .locked)
        #expect(StatusLine.text(sessions: [], store: sealed) == "store etcd locked (authc store unlock)")
        let hidden = SessionStatus(
            session: try SessionName("shop"), provider: "p", state: .keyringLocked, cause: "keyring_locked")
        #expect(
            StatusLine.text(sessions: [hidden], store: sealed)
                == "store etcd locked (authc store unlock), shop keyring_locked")
        let many = Array(repeating: active, count: 10)
        #expect(StatusLine.text(sessions: many, store: ready).hasSuffix("shop active, 2 more"))
    }

    @Test("the service manager gets one line for each key")
    func notifications() {
        let reported = ReportedState()
        let notifier = ServiceNotifier { reported.add($0) }
        notifier.ready(status: "two\nlines")
        notifier.alive()
        notifier.reloading()
        notifier.stopping()
        #expect(reported.all[0] == "READY=1\nSTATUS=two lines")
        #expect(reported.all[1] == "WATCHDOG=1")
        #expect(reported.all[2].hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
        #expect(reported.all[3].hasPrefix("STOPPING=1\nSTATUS="))
    }

    @Test(
        "a time limit is written with its unit in one form",
        arguments: [
            (Duration.seconds(1), "than 1 s."), (.milliseconds(1500), "than 1.5 s."), (.seconds(60), "than 60 s."),
        ]
    )
    func lateness(limit: Duration, words: String) {
        #expect(AgentError.late(after: limit).message.contains(words))
    }

    @Test("a log line is one line without terminal sequences")
    func logLine() {
        #expect(StandardError.oneLine("a\nb\u{1B}[2J") == Array("a\\u{a}b\\u{1b}[2J\n".utf8))
        #expect(Journal.fieldName("peer_pid-2é") == "PEER_PID_2_")
    }

    @Test("on stderr a value that could pass for other fields is quoted; the journal gets each value as it is")
    func logFields() {
        let values = [
            "call": "GET /users", "purpose": "x rule=default", "path": "C:\\a", "name": "a\u{301}\"", "rule": "b",
        ]
        let line = LogLine(
            level: .info, message: "Audit: x",
            fields: values.mapValues { "\($0)" }.merging(CatalogMessage.audit.metadata()) { $1 })
        #expect(
            StandardError.text(line) == #"info: Audit: x call="GET /users" name="a\#u{301}\"" path=C:\a"#
                + #" purpose="x rule=default" rule=b"#)
        #expect(
            Set(Journal.fields(of: line).filter { !$0.hasPrefix("USER_UNIT=") }) == [
                "MESSAGE=Audit: x", "PRIORITY=6", "SYSLOG_IDENTIFIER=authd",
                "MESSAGE_ID=\(CatalogMessage.audit.rawValue)", "AUTHD_CALL=GET /users", "AUTHD_PURPOSE=x rule=default",
                "AUTHD_PATH=C:\\a", "AUTHD_NAME=a\u{301}\"", "AUTHD_RULE=b",
            ])
        // A character of several scalars begins with an equals sign.
        let mark = LogLine(level: .info, message: "m", fields: ["a": "x =\u{301}b"])
        #expect(StandardError.text(mark) == "info: m a=\"x =\u{301}b\"")
    }

    @Test("stderr is the journal only if it is the stream that systemd connected")
    func journalStream() {
        #expect(!AgentLog.standardErrorIsJournal { _ in nil })
        #expect(!AgentLog.standardErrorIsJournal { _ in "1:1" })
        guard let identity = FileIdentity(descriptor: 2) else { return }
        #expect(AgentLog.standardErrorIsJournal { _ in "\(identity.device):\(identity.inode)" })
    }

    @Test("a changed level applies to existing loggers")
    func adjustableLevel() {
        let log = AgentLog(level: .error)
        let logger = log.logger()
        #expect(logger.logLevel == .error)
        log.level = .debug
        #expect(logger.logLevel == .debug)
    }
}

private final class ReportedState: Sendable {
    private let texts = Mutex<[String]>([])
    var all: [String] { texts.withLock { $0 } }

    func add(_ text: String) { texts.withLock { $0.append(text) } }
}

import AuthModel
import AuthWire

/// Records that the watch has reported, kept until the agent reads them, so that they need not be requested.
///
/// Invariant: a report is used once, and only if it is not older than what this host has read or written of its session.
struct ReportedRecords: Sendable {
    struct Report: Sendable, Equatable {
        let record: EtcdEntry
        let lifetime: LifetimeLease
    }

    /// Reports that are kept. The record of any other session is requested.
    private static let maxReports = 64
    /// Bytes of a record that is kept.
    private static let maxBytes = 64 << 10

    private var reports: [SessionName: Report] = [:]
    /// The last change of each session that this host has read or written.
    private var used: [SessionName: Int64] = [:]

    /// The changes of one message. A renewal writes the record and the end of its token at one revision.
    mutating func apply(_ changes: [WatchChange], at places: EtcdPlaces) {
        for change in changes {
            guard let session = places.sessionName(of: change.entry.key) else { continue }
            reports[session] = nil
            guard !change.isDeletion else {
                used[session] = nil
                continue
            }
            guard change.entry.value.count <= Self.maxBytes, reports.count < Self.maxReports else { continue }
            let life = changes.last {
                !$0.isDeletion && $0.entry.key == places.lifetime(session)
                    && $0.entry.modRevision == change.entry.modRevision
            }
            reports[session] = Report(record: change.entry, lifetime: life.map { .found($0.entry.lease) } ?? .unread)
        }
    }

    /// A record with this last change was read or written.
    mutating func used(_ session: SessionName, at revision: Int64) {
        used[session] = max(revision, used[session] ?? 0)
    }

    mutating func next(_ session: SessionName) -> Report? {
        guard let report = reports.removeValue(forKey: session), report.record.modRevision >= used[session] ?? 0 else {
            return nil
        }
        return report
    }

    /// The watch has ended: it may have missed later changes.
    mutating func watchEnded() { reports = [:] }

    /// etcd went back: revisions of the former history say nothing about the present one.
    mutating func wentBack() { self = ReportedRecords() }
}

/// The lease to which ``EtcdPlaces/lifetime(_:)`` is attached.
enum LifetimeLease: Sendable, Equatable {
    /// It has not been read yet.
    case unread
    /// 0: it no longer exists.
    case found(Int64)
}

import AuthMachines
import AuthModel
import AuthWire

/// The notices that the real ``NoticeMachine`` shows, and whether they are necessary.
extension SimulationRun {
    func updateNotices(_ event: NoticeEvent? = nil) {
        guard running[0], violation == nil else { return }
        let view = NoticeInput(sessions: firstAgents.compactMap { $0?.snapshot?.status }, network: reportedNetwork)
        // With a clock that runs a thousand times too fast, ten minutes are over at once.
        let boot = BootInstant(sinceBoot: moment.boot.sinceBoot * (fault == .ignoresTimeout ? 1000 : 1))
        let turn = notices.handle(event ?? .changed(view), at: Moment(boot: boot, wall: moment.wall))
        for case .publish(let change, let notice) in turn.actions {
            switch change {
            case .shown:
                note("  notice shown: \(notice.title)")
                shownNotices[notice.subject] = notice
                checkShown(notice)
            case .withdrawn:
                note("  notice withdrawn: \(notice.title)")
                if fault != .keepsNotices { shownNotices[notice.subject] = nil }
            case .chosen: break
            }
        }
        noticeAlarm = turn.wakeUp.map { max(time(of: $0), now) }
        checkNotices()
    }

    /// The process is gone, and what it knew.
    func forgetNotices() {
        notices = NoticeMachine()
        shownNotices = [:]
        noticeAlarm = nil
    }

    // MARK: Rule 14

    private func seat(of notice: Notice) -> SimulatedSession? {
        firstAgents.first { $0?.snapshot?.status.session == notice.session } ?? nil
    }

    /// A new notice must be necessary.
    private func checkShown(_ notice: Notice) {
        guard notice.reason == .stale, let seat = seat(of: notice) else { return }
        let patient = now - InvariantChecker.staleLimit
        if reportedNetwork != .online || networkReportedAt > patient {
            report(.notices, "'\(notice.title)' while the network was not fine for ten minutes")
        }
        if seat.staleSince.map({ $0 > patient }) ?? true {
            report(.notices, "'\(notice.title)' before ten minutes have passed")
        }
    }

    /// A notice that is still shown must be true.
    private func checkNotices() {
        for notice in shownNotices.values {
            let state = seat(of: notice)?.snapshot?.status.state
            if state?.rawValue != notice.reason.rawValue {
                report(.notices, "'\(notice.title)' is shown, and the session is \(state?.rawValue ?? "gone")")
            }
        }
    }

    /// Each session that requires a sign-in has a notice.
    func checkAllNotified() {
        for seat in firstAgents.compactMap({ $0 }) {
            guard let status = seat.snapshot?.status, status.state == .signInRequired else { continue }
            if shownNotices[.session(status.session)] == nil, shownNotices.count < NoticeMachine.maxShown {
                report(.notices, "\(status.session) requires a sign-in, and no notice is shown")
            }
        }
    }
}

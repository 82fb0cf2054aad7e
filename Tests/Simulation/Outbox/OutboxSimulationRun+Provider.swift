import AuthMachines
import AuthModel
import AuthWire

/// The way to the provider and back.
extension OutboxSimulationRun {
    /// What is to be sent is there, or could not be read from the disk.
    func launch(_ entry: OutboxEntry, _ error: OutboxError?) {
        let number = nextNumber()
        sendings[number] = Sending(entry: entry, process: process)
        if let refusal = error.map(AgentError.init) ?? refusal(of: entry) {
            return finish(number, .failure(refusal))
        }
        queue.add(.reachesProvider(number), at: now + way())
        queue.add(.timesOut(number), at: now + SimulationRun.requestTimeout)
    }

    private func way() -> Duration { random.duration(in: .milliseconds(5)...Duration.milliseconds(250)) }

    /// Why it does not leave the machine.
    private func refusal(of entry: OutboxEntry) -> AgentError? {
        guard disk.holds(entry.id) else { return AgentError(.internal_, "cannot be read", cause: "unreadable") }
        guard let session = writes[entry.id]?.session, let user = userID(session) else {
            return AgentError(.notSignedIn, "signed out")
        }
        guard user == entry.owner.userID else { return AgentError(.denied, "another account's") }
        switch network {
        case .offline: return AgentError(.offline, "no network")
        case .portal: return AgentError(.captivePortal, "a portal")
        default: return nil
        }
    }

    func reachProvider(_ number: Int) {
        guard let sending = sendings[number], network == .online || network == .limited else { return }
        let back = now + way()
        switch behaviour {
        case .well: answer(number, done(sending), at: back)
        case .slow(let time): answer(number, done(sending), at: now + time)
        case .down: answer(number, .failure(AgentError(.providerUnreachable, "connection refused")), at: back)
        case .silent(let carriesOut):
            if carriesOut { _ = done(sending) }
        case .losesAnswers:
            _ = done(sending)
            answer(number, .failure(AgentError(.providerUnreachable, "connection lost")), at: back)
        case .html: answer(number, .failure(AgentError(.badReply, "a page")), at: back)
        case .fails(let wait):
            answer(
                number, .failure(AgentError(.providerError, "503", httpStatus: 503, retryAfter: wait)), at: back)
        case .limits(let wait):
            answer(number, .failure(AgentError(.rateLimited, "429", httpStatus: 429, retryAfter: wait)), at: back)
        case .refuses: answer(number, .failure(AgentError(.validation, "no", httpStatus: 422)), at: back)
        }
    }

    /// The provider carries it out.
    private func done(_ sending: Sending) -> Result<APIResponse, AgentError> {
        let id = sending.entry.id
        if writes[id]?.isRemoved == true, writes[id]?.isDropped == false, sending.process == process {
            report(.repeatedWrite, "\(id) is done again after its end was written down")
        }
        writes[id]?.timesDone += 1
        if writes[id]?.timesDone == 2 { coverage.repeated += 1 }
        return .success(APIResponse(status: 201))
    }

    private func answer(_ number: Int, _ result: Result<APIResponse, AgentError>, at time: Duration) {
        sendings[number]?.result = result
        queue.add(.answered(number), at: time)
    }

    func providerReplied(_ number: Int) {
        // Without a network it never arrives: the transport gives up later.
        guard let result = sendings[number]?.result, network == .online || network == .limited else { return }
        finish(number, result)
    }

    func finish(_ number: Int, _ result: Result<APIResponse, AgentError>) {
        guard let sending = sendings.removeValue(forKey: number), sending.process == process, isRunning else { return }
        let id = sending.entry.id
        if let session = writes[id]?.session {
            sessions[session].inProgress.remove(id)
            // The result of a write that the user has dropped meanwhile is not used.
            if machine.entries.contains(where: { $0.id == id }) { record(result, of: id, session) }
        }
        handle(.answered(id, result))
    }

    private func record(_ result: Result<APIResponse, AgentError>, of id: String, _ session: Int) {
        switch result {
        case .success:
            writes[id]?.answer = .done
            sessions[session].wasAnswered = true
        case .failure(let error) where error.isFinalForWrite:
            writes[id]?.answer = .refused
            writes[id]?.wasRefused = true
        case .failure(let error):
            // Those after it wait for it.
            tried { self.writes[$0]?.session == session }
            guard let wait = error.retryAfter else { return }
            let end = now + min(wait, InvariantChecker.longestHold)
            sessions[session].heldUntil = end
            holdsOffUntil = max(holdsOffUntil, end)
        }
    }
}

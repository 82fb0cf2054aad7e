import AuthMachines
import AuthModel
import AuthWire

/// The way to the provider and back.
extension SimulationRun {
    func send(
        _ currentRequest: RenewalRequestID, _ record: SessionRecord, for session: Int, to target: TokenTarget? = nil
    ) {
        checkGeneration(of: record.tokens, session, "sent")
        checkOneFlight(record, session)
        checkProven(record, session)
        let number = nextNumber()
        requests[number] = Request(
            session: session, currentRequest: currentRequest, target: target, tokens: record.tokens,
            account: provider.account(of: record.tokens),
            seat: seats[session], sentAt: moment, sent: now)
        if fault == .skipsTheQueue { return launch(number) }
        let urgency = record.tokens.expiresAt.map { moment.deadline(for: $0) } ?? moment.boot
        renewalQueue(.entered(CallerID(UInt64(number)), Self.queueProvider, urgency: urgency))
    }

    private static let queueProvider = RenewalQueue.Provider(name: "example", environment: "local")

    private func renewalQueue(_ event: RenewalQueue.Event) {
        let turn = line.handle(event, at: moment)
        for (caller, reply) in turn.replies {
            let number = Int(caller.number)
            switch reply {
            case .begin: launch(number)
            case .held(let wait):
                requests[number]?.fail(.askedToWait(for: wait))
                queue.add(.answered(number), at: now)
            }
        }
        guard turn.wakeUp != lineWakesAt else { return }
        lineWakesAt = turn.wakeUp
        if let wakeUp = turn.wakeUp { queue.add(.turn, at: max(now, time(of: wakeUp))) }
    }

    /// The next renewal may begin.
    func beginRenewals() {
        if running.contains(true) { renewalQueue(.wake) }
    }

    /// Asks now, if nothing stands in the way by now.
    private func launch(_ number: Int) {
        guard let request = requests[number], let seat = request.seat, seat === seats[request.session] else {
            requests[number] = nil
            return
        }
        requests[number]?.sentAt = moment
        requests[number]?.sent = now
        // As GuardedTransport does it: nothing is sent if the network is known to lead nowhere.
        let isBlocked = reportedNetwork == .offline || reportedNetwork == .portal
        guard seat.machine.currentRequest?.id == request.currentRequest, !isBlocked else {
            requests[number]?.fail(reportedNetwork == .portal ? .temporary(.captivePortal, retryAfter: nil) : .offline)
            return queue.add(.answered(number), at: now)
        }
        checkCall(request.session)
        guard network != .offline else {
            requests[number]?.fail(.offline)
            return queue.add(.answered(number), at: now + .milliseconds(1))
        }
        queue.add(.reachesProvider(number), at: now + random.duration(in: setting.answerTime) / 2)
        queue.add(.timesOut(number), at: now + Self.requestTimeout)
    }

    /// What the transport waits for an answer.
    static let requestTimeout = Duration.seconds(30)

    func reachProvider(_ number: Int) {
        guard let request = requests[number], network != .offline else { return }
        let back = now + (now - request.sent)
        guard network != .portal else { return answer(number, .failure(.html), at: back) }
        switch provider.behaviour {
        case .well: answer(number, renew(request, stating: setting.life), at: back)
        case .slow(let time): answer(number, renew(request, stating: setting.life), at: now + time)
        case .states(let life): answer(number, renew(request, stating: life), at: back)
        case .down: answer(number, .failure(.refusedConnection), at: back)
        case .silent(let carriesOut):
            if carriesOut { _ = renew(request, stating: setting.life) }
        case .losesAnswers:
            _ = renew(request, stating: setting.life)
            answer(number, .failure(.lost), at: back)
        case .garbage:
            _ = renew(request, stating: setting.life)
            answer(number, .failure(.garbage), at: back)
        case .html: answer(number, .failure(.html), at: back)
        case .fails(let wait): answer(number, .failure(.serverError(wait)), at: back)
        case .limits(let wait): answer(number, .failure(.tooMany(wait)), at: back)
        case .refuses: answer(number, .failure(.refused(.notNow)), at: back)
        }
    }

    private func renew(_ request: Request, stating life: Duration?) -> Result<Grant, ProviderFailure> {
        calls[request.session].record(life: life)
        if request.target != nil {
            return provider.obtain(
                request.tokens, as: setting.targets, life: setting.life == nil ? nil : life, sentAt: request.sent,
                wallAtSending: request.sentAt.wall, at: now)
        }
        return provider.renew(
            request.tokens, statedLife: setting.life == nil ? nil : life, sentAt: request.sent,
            wallAtSending: request.sentAt.wall, at: now)
    }

    private func answer(_ number: Int, _ result: Result<Grant, ProviderFailure>, at time: Duration) {
        requests[number]?.result = result
        queue.add(.answered(number), at: time)
    }

    func providerReplied(_ number: Int) {
        guard let request = requests[number], var result = request.result else { return }
        // Without a network it never arrives: the transport gives up later.
        if network == .offline, !request.hasStayed { return }
        if fault == .repeatsFailedRequests, !request.hasStayed, case .failure(.temporary(_, retryAfter: nil)) = result {
            return launch(number)
        }
        requests[number] = nil
        if case .failure(.temporary(let error, let wait?)) = result {
            provider.holdsOffUntil = max(provider.holdsOffUntil, now + wait)
            if request.seat != nil, request.seat === seats[request.session] { sendAway(for: wait) }
            if fault == .ignoresRetryAfter { result = .failure(.temporary(error, retryAfter: nil)) }
        }
        if fault == .treatsFailuresAsFinal, request.target == nil, case .failure(.temporary) = result {
            result = .failure(.final(.refusedByProvider))
        }
        finish(request, result)
    }

    /// Renewals in the queue do not wait for a provider that asked clients to wait.
    private func sendAway(for wait: Duration) {
        heldUntil = max(heldUntil, now + min(wait, InvariantChecker.longestHold))
        guard fault != .ignoresRetryAfter else { return }
        renewalQueue(.held(Self.queueProvider, for: wait))
    }

    func timeOut(_ number: Int) {
        guard let request = requests.removeValue(forKey: number) else { return }
        finish(request, .failure(.timedOut))
    }

    private func finish(_ request: Request, _ result: Result<Grant, ProviderFailure>) {
        if case .success(let grant) = result, let account = request.account, let seat = request.seat,
            isAlive(seat, request.session)
        {
            noteDelivered(grant, account)
        }
        defer { if let account = request.account { checkSignedOut(account) } }
        guard let seat = request.seat, seat === seats[request.session] else { return finishLate(request, result) }
        if case .success(let grant) = result, let target = request.target, let token = grant.accessToken {
            seat.targets[token.reveal()] = target
            if let refresh = grant.refreshToken, refresh != seat.machine.record.tokens.refreshToken {
                seat.issuedWith[token.reveal()] = refresh
            } else {
                seat.settled.insert(token.reveal())
            }
        }
        if case .failure(.final) = result, request.target == nil, seat.account == request.account {
            seat.sawFinal = true
            seat.readAgain = false
            checkRefusal(request, session: request.session)
        }
        if case .success(let grant) = result, grant.accessToken == nil, request.target == nil {
            provider.prolong(request.tokens, grant, sentAt: request.sent)
            // What was measured in this run is beyond doubt, as soon as it is in the store.
            seat.readings[request.tokens.accessToken.reveal()]?.validSince = nil
            seat.measured[request.tokens.accessToken.reveal()] = grant.issuedAt
        }
        var known = result
        // The machine tries again, as after any other failure.
        if fault == .overlooksRefusals, request.target == nil, case .failure(.final(let error)) = result {
            known = .failure(.temporary(error, retryAfter: nil))
        }
        handle(request.session, .requestEnded(request.currentRequest, known, sentAt: request.sentAt))
    }
}

extension AgentError {
    fileprivate static let offlineError = AgentError(.offline, "no network")
    fileprivate static let notNow = AgentError(.forbidden, "not now")
}

extension ProviderFailure {
    fileprivate static let offline = temporary(.offlineError, retryAfter: nil)
    fileprivate static let timedOut = temporary(AgentError(.timeout, "no answer"), retryAfter: nil)
    fileprivate static let lost = temporary(AgentError(.providerUnreachable, "connection lost"), retryAfter: nil)
    fileprivate static let garbage = temporary(AgentError(.badReply, "unreadable"), retryAfter: nil)
    fileprivate static let html = temporary(AgentError(.badReply, "a page"), retryAfter: nil)
    fileprivate static let refusedConnection = temporary(
        AgentError(.providerUnreachable, "connection refused"), retryAfter: nil)

    fileprivate static func serverError(_ wait: Duration?) -> ProviderFailure {
        .temporary(AgentError(.providerError, "503", httpStatus: 503, retryAfter: wait), retryAfter: wait)
    }

    fileprivate static func tooMany(_ wait: Duration?) -> ProviderFailure {
        .temporary(AgentError(.rateLimited, "429", httpStatus: 429, retryAfter: wait), retryAfter: wait)
    }
}

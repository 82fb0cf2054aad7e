import AuthModel
package import AuthWire

/// Calls whose body or response is streamed. They do not use the cache.
extension APIClient {
    /// Creates the stream that a call requests.
    package func stream(
        for params: APIRequest, respond: @escaping APIStream.Respond
    ) throws(AgentError) -> APIStream {
        var bodies = (params.multipart ?? []).compactMap { part in
            if case .stream(let body) = part.content { body } else { nil }
        }
        if let body = params.bodyStream { bodies.append(body) }
        return try stream(named: params.stream, bodies, params.answer, respond)
    }

    package func stream(
        for params: APICall, respond: @escaping APIStream.Respond
    ) throws(AgentError) -> APIStream {
        var bodies: [BodyStream] = []
        for (_, value) in params.args {
            if let body = value["body_stream"] { bodies.append(try BodyStream(body)) }
        }
        return try stream(named: params.stream, bodies, params.answer, respond)
    }

    private func stream(
        named name: String?, _ bodies: [BodyStream], _ answer: ResponseMode, _ respond: @escaping APIStream.Respond
    ) throws(AgentError) -> APIStream {
        guard bodies.count <= 1 else { throw .invalidParams("params: expected at most one body_stream.") }
        guard let name else { throw .invalidParams("params.stream: expected a name for the stream, found nothing.") }
        return try APIStream(name: name, body: bodies.first, answer: answer, clock: context.clock, respond: respond)
    }

    // MARK: The life of one

    /// Returns when the stream has ended. Cancelling ends it at once.
    package func carry(_ params: APIRequest, by stream: APIStream) async {
        do throws(AgentError) {
            let (order, session) = try await settled(params)
            await carry(order, session, by: stream, within: params.timeout)
        } catch {
            await stream.finish(.failure(error), nil)
        }
    }

    package func carry(_ params: APICall, by stream: APIStream) async {
        do throws(AgentError) {
            let (order, session, _) = try await settled(params)
            await carry(order, session, by: stream, within: params.timeout)
        } catch {
            await stream.finish(.failure(error), nil)
        }
    }

    private func carry(
        _ order: PreparedCall, _ session: Session, by stream: APIStream, within limit: Duration?
    ) async {
        await withTaskCancellationHandler {
            await withDiscardingTaskGroup { group in
                group.addTask { await self.watch(stream, within: limit) }
                await performCall(order, session, by: stream)
                group.cancelAll()
            }
        } onCancel: {
            stream.close(.stopping)
        }
    }

    private func performCall(_ order: PreparedCall, _ session: Session, by stream: APIStream) async {
        guard await context.transfersMayGo(await session.record, unless: stream.closed) else {
            return await stream.finish(.failure(.stopping), nil)
        }
        do throws(AgentError) {
            let received = try await exchange(order, session, by: stream)
            if order.template.method != "GET" { written(received, order) }
            let response = stream.download == nil ? try received.response.fitting() : received.response
            await stream.finish(.success(response), received.reply)
        } catch {
            await stream.finish(.failure(error), nil)
        }
    }

    /// Ends a stream whose client, or whose time, has gone.
    private func watch(_ stream: APIStream, within limit: Duration?) async {
        let start = context.clock.now().boot
        while !Task.isCancelled {
            let now = context.clock.now().boot
            if let limit, now >= start + limit { return stream.close(.late(after: limit)) }
            if let since = stream.idleSince, now >= since + APIStream.clientIdle { return stream.close(.idleClient) }
            let next = (stream.idleSince ?? now) + APIStream.clientIdle
            try? await context.clock.sleep(until: limit.map { min(next, start + $0) } ?? next)
        }
    }
}

extension AgentError {
    fileprivate static var idleClient: AgentError {
        AgentError(
            .timeout, "The client left this stream waiting for \(Int(APIStream.clientIdle.seconds)) s.",
            cause: "stream_idle")
    }

    fileprivate static func late(after limit: Duration) -> AgentError {
        AgentError(.timeout, "The stream did not end within the \(Int(limit.seconds)) s that were allowed.")
    }
}

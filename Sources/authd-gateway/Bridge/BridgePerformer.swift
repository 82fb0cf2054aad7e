import AuthAgent
import AuthConcurrency
import AuthGateway
import AuthHTTP
import AuthModel
import Synchronization

/// Carries out what ``BridgeMachine`` decides.
struct BridgePerformer: ActionPerformer {
    let transport: AsyncHTTPTransport
    let responseTime: Duration
    let tokens: TokenSource
    let output: LineWriter
    let notes: NoteWriter
    let input: LineInput
    let end: OneShot<Void>
    private let open = OpenCalls()

    init(
        transport: AsyncHTTPTransport, responseTime: Duration, tokens: TokenSource, output: LineWriter,
        notes: NoteWriter, input: LineInput, end: OneShot<Void>
    ) {
        self.transport = transport
        self.responseTime = responseTime
        self.tokens = tokens
        self.output = output
        self.notes = notes
        self.input = input
        self.end = end
    }

    func perform(_ action: BridgeAction, on runner: isolated Runner<BridgeMachine>) {
        switch action {
        case .write(let line): output.write(line)
        case .note(let text): notes.write(text)
        case .token(let call, let question):
            runner.start { [tokens] in .token(call, await tokens.answer(to: question)) }
        case .send(let call, let request):
            // Before its task begins, so that a release cannot come first.
            let released = open.add(call)
            runner.start { [self] in
                defer { open.remove(call) }
                return await send(request, as: call, until: released, runner)
            }
        case .release(let call, let lingers): open.release(call, lingers: lingers)
        case .pauseInput: input.pause()
        case .resumeInput: input.resume()
        case .exit: end.send(())
        }
    }

    /// For the end of a response that is not needed, so that its connection can be used again.
    private static let lingerTime = Duration.seconds(1)

    private func send(
        _ request: HTTPRequest, as call: CallID, until released: OneShot<Bool>, _ runner: Runner<BridgeMachine>
    ) async -> BridgeEvent? {
        let receiver = CallReceiver(call: call, runner: runner, output: output)
        return await withTaskGroup(of: BridgeEvent?.self) { group in
            group.addTask {
                do throws(TransportError) {
                    try await transport.stream(request, limit: responseTime, to: receiver)
                    return .ended(call, nil)
                } catch {
                    return .ended(call, error)
                }
            }
            group.addTask {
                if await released.value() == true {
                    try? await Task.sleep(for: Self.lingerTime, clock: .continuous)
                }
                return nil
            }
            let first = await group.next()
            group.cancelAll()
            return first ?? nil
        }
    }
}

/// Passes a response on, and waits for the program that reads it.
private struct CallReceiver: HTTPLiveReceiver {
    let call: CallID
    let runner: Runner<BridgeMachine>
    let output: LineWriter

    func begin(_ head: HTTPResponse) async {
        await runner.send(.head(call, head))
    }

    func receive(_ piece: [UInt8]) async {
        await runner.send(.piece(call, piece))
        await output.room()
    }
}

/// The calls in progress, and how each is released.
private final class OpenCalls: Sendable {
    private let calls = Mutex<[CallID: OneShot<Bool>]>([:])

    func add(_ call: CallID) -> OneShot<Bool> {
        let released = OneShot<Bool>()
        calls.withLock { $0[call] = released }
        return released
    }

    func remove(_ call: CallID) {
        calls.withLock { $0[call] = nil }
    }

    func release(_ call: CallID, lingers: Bool) {
        calls.withLock { $0[call] }?.send(lingers)
    }
}

import AuthMachines
import AuthModel
import AuthWire

extension Result {
    /// How the work ended, for an event of a machine.
    init(of work: @autoclosure () async throws(Failure) -> Success) async {
        do throws(Failure) {
            self = .success(try await work())
        } catch {
            self = .failure(error)
        }
    }
}

/// An error that a client receives as an ``AgentError``.
protocol ClientVisibleError: Error {
    var agentError: AgentError { get }
}

extension ProviderFailure: ClientVisibleError {
    var agentError: AgentError { error }
}

extension StoreError: ClientVisibleError {
    var agentError: AgentError { AgentError(self) }
}

extension OutboxError: ClientVisibleError {
    var agentError: AgentError { AgentError(self) }
}

extension WaitEnd: ClientVisibleError {
    var agentError: AgentError {
        switch self {
        case .cancelled: .callerGone
        case .stopping: .stopping
        }
    }
}

extension SealRefusal: ClientVisibleError {
    var agentError: AgentError {
        switch self {
        case .needsPassphrase(isNew: false):
            AgentError(.validation, "It is sealed with a passphrase: enter it.", cause: "passphrase")
        case .needsPassphrase(isNew: true):
            AgentError(
                .validation, "It will be sealed with a passphrase: choose one and enter it.",
                cause: "new_passphrase")
        case .wrongPassphrase:
            AgentError(.refused, "The passphrase is wrong.", cause: "passphrase")
        case .tooShort:
            AgentError(
                .validation,
                "A passphrase must have \(Limits.shortestPassphrase) bytes or more: a short one can be guessed from a "
                    + "copy of the disk.",
                cause: "new_passphrase")
        case .damaged(let reason): AgentError(.validation, "It cannot be opened: \(reason).", cause: "damaged")
        case .busy:
            AgentError(
                .busy, "Another export bundle is being sealed or opened.", cause: "passphrase",
                retryAfter: AgentError.retryWhenBusy)
        case .store(let error): AgentError(error)
        case .changed(let error):
            Self.prefixing(
                "The new passphrase or key opens the store already, but not everything is sealed again: repeat the same "
                    + "command.", error)
        case .mayChange(let error):
            Self.prefixing(
                "The change did not finish in time and may still take effect: keep the old and the new passphrase or key. If the "
                    + "new one opens the store, use it as the current one.", error)
        }
    }

    private static func prefixing(_ text: String, _ reason: StoreError) -> AgentError {
        var error = AgentError(reason)
        error.message = "\(text) \(error.message)"
        return error
    }
}

/// Does the work. Its error is thrown as the client receives it.
func converting<Value, Failure: ClientVisibleError>(
    _: Failure.Type, _ work: @autoclosure () async throws(Failure) -> Value
) async throws(AgentError) -> Value {
    do throws(Failure) {
        return try await work()
    } catch {
        throw error.agentError
    }
}

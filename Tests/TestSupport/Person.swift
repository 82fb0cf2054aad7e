import Foundation
import Synchronization

/// Answers the password prompts of a gnome-keyring as configured (person.py).
package final class Person: Sendable {
    private let child: Child
    private let notified = Mutex(0)
    /// For `GNOME_KEYRING_TEST_PROMPTER`.
    package let prompter: String

    package enum PersonAction {
        case cancel
        case type(String)

        fileprivate var line: String {
            switch self {
            case .cancel: "cancel"
            case .type(let password): "type \(password)"
            }
        }
    }

    package init(on desktop: Desktop) async throws {
        child = try await Child([KeyringServices.person], environment: desktop.environment, input: .held)
        guard await child.out.wait(for: "\n"), let name = child.out.text.split(separator: "\n").first else {
            throw Failure("nobody answers prompts: \(await child.err.all())")
        }
        prompter = String(name)
    }

    /// Sets the answer to the next prompt, after those that are already set.
    package func will(_ deed: PersonAction) async { _ = await tell(deed.line) }

    /// Whether they have done all that.
    package func isDone() async -> Bool { await tell("look").hasSuffix("left 0\n") }

    /// From now on a prompt is before them, and nothing happens.
    package func lookAway() { child.kill(SIGSTOP) }
    package func lookBack() { child.kill(SIGCONT) }

    package func end() async { await child.end(SIGKILL) }

    private func tell(_ line: String) async -> String {
        let number = notified.withLock { notified in
            notified += 1
            return notified
        }
        child.tell(line)
        await child.out.wait(for: "left ", times: number)
        await child.out.wait(for: "\n", times: number + 1)
        return child.out.text
    }
}

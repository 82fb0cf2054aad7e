import AuthModel
import AuthSealedFile
import Foundation
import TestSupport

extension Scene {
    static let lockPassphrase = "correct horse battery"

    var stateFolder: String { desktop.folder.path + "/state/authd" }
    var lockFile: String { stateFolder + "/lock" }

    /// Sets the passphrase of the lock as the agent would, and starts the agent again.
    /// - Parameter cost: of a check. The usual one takes a debug build seconds.
    func prepareLock(cost: Int = 10, descriptorStore: FakeDescriptorStore? = nil) async throws {
        try await LockFiles(in: stateFolder, cost: PassphraseCost(logarithm: cost)).set(Secret(Self.lockPassphrase))
        try await restart(descriptorStore: descriptorStore)
    }

    /// Waits until the manager has one copy: a newer one is stored before the older one is removed.
    func hasOneCopy(_ descriptorStore: FakeDescriptorStore) async throws -> Bool {
        try await until {
            _ = try await agent.authc("status")
            return descriptorStore.entries.count == 1
        }
    }

    func lock() async throws {
        let output = try await agent.authc("lock")
        guard output.status == 0 else { throw Failure("not locked: \(output.err)") }
    }

    func unlock(_ passphrase: String = lockPassphrase) async throws -> Child.Output {
        try await agent.authc("unlock", "--passphrase-stdin", input: passphrase + "\n")
    }
}

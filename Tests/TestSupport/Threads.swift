import Foundation

/// Blocking work on a separate thread, so that no task of a program under test waits for a turn.
package func onThread<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try work() }) }
    }
}

/// Gives this thread its own umask and current folder (`CLONE_FS` of unshare(2)). Those of the other threads stay as they are.
package func separateFileSettings() throws {
    typealias Unshare = @convention(c) (CInt) -> CInt
    let cloneFS: CInt = 0x200
    // Glibc's module does not declare it.
    guard let symbol = dlsym(nil, "unshare"), unsafeBitCast(symbol, to: Unshare.self)(cloneFS) == 0 else {
        throw Failure("unshare: \(errno)")
    }
}

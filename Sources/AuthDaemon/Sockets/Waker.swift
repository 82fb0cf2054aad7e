import AuthFiles
import CSystemd
import Glibc

/// Wakes the executor from any thread (eventfd(2)).
final class Waker: ReadinessHandler, Sendable {
    let descriptor: CInt

    init() throws(SystemFailure) {
        descriptor = eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK))
        guard descriptor >= 0 else { throw SystemFailure("create an eventfd") }
    }

    deinit { close(descriptor) }

    func wake() {
        var one: UInt64 = 1
        _ = unsafe write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    func ready(for readiness: Readiness) {
        var count: UInt64 = 0
        _ = unsafe read(descriptor, &count, MemoryLayout<UInt64>.size)
    }
    func executorStops() {}
}

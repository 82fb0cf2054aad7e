import Glibc
import Synchronization

/// Memory for secrets: pages that are locked (mlock(2)), so that they are never swapped out, and excluded from core dumps
/// (madvise(2), MADV_DONTDUMP).
///
/// Invariant: each slot belongs to one ``Secret``, or is free and all zero. Slots are reused and never unmapped, so their
/// number is the largest number of secrets that ever existed at once.
package final class SecretPages: Sendable {
    package static let shared = SecretPages()

    /// Bytes of slots. Tokens have a few hundred to two thousand, a record a few thousand.
    private static let sizes = [64, 128, 256, 512, 1024, 2048, 4096, 16384, 65536]
    /// Bytes mapped at once: each page is resident, and a user may lock only a few (RLIMIT_MEMLOCK).
    private static let chunk = 16384
    /// MADV_DONTDUMP; Swift's Glibc does not export it.
    private static let doNotDump: Int32 = 16

    /// Bytes of mapped pages, by whether they could be locked.
    package struct Usage: Sendable, Equatable {
        package var locked = 0
        package var unlocked = 0
    }

    private struct State {
        /// Addresses, by the index of their size.
        var free: [[UInt]] = Array(repeating: [], count: SecretPages.sizes.count)
        var usage = Usage()
    }

    private let state = Mutex(State())

    package var usage: Usage { state.withLock { $0.usage } }

    /// A slot of zeros of at least that many bytes; `nil` if that is more than the largest slot, or the kernel has no pages.
    func allocate(_ count: Int) -> UnsafeMutableRawPointer? {
        guard let size = Self.sizes.firstIndex(where: { $0 >= count }) else { return nil }
        let slot = state.withLock { state in
            if state.free[size].isEmpty { Self.map(slotsOf: size, &state) }
            return state.free[size].popLast()
        }
        return unsafe slot.flatMap { unsafe UnsafeMutableRawPointer(bitPattern: $0) }
    }

    /// Releases and overwrites the slot that ``allocate(_:)`` returned for that many bytes.
    func deallocate(_ slot: UnsafeMutableRawPointer, _ count: Int) {
        guard let size = Self.sizes.firstIndex(where: { $0 >= count }) else { return }
        unsafe explicit_bzero(slot, count)
        let address = UInt(bitPattern: slot)
        state.withLock { $0.free[size].append(address) }
    }

    private static func map(slotsOf size: Int, _ state: inout State) {
        let length = max(chunk, sizes[size])
        let pages = unsafe mmap(nil, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let pages = unsafe pages, unsafe pages != MAP_FAILED else { return }
        _ = unsafe madvise(pages, length, doNotDump)
        if unsafe mlock(pages, length) == 0 {
            state.usage.locked += length
        } else {
            state.usage.unlocked += length
        }
        let start = UInt(bitPattern: pages)
        state.free[size] += stride(from: start, to: start + UInt(length), by: sizes[size])
    }
}

import Glibc

/// Secret bytes: a token, a password, a remembered credential.
///
/// It prints as `<secret>`, has no mirror, is not `Codable`, and is stored in ``SecretPages``, overwritten on release. The
/// bytes are revealed only at the socket, in the store and in HTTP requests.
package struct Secret: Sendable {
    private let storage: Storage

    package init(_ text: String) {
        storage = Storage(text.utf8)
    }

    package init(bytes: some Collection<UInt8>) {
        storage = Storage(bytes)
    }

    package var count: Int { unsafe storage.bytes.count }

    package var isEmpty: Bool { count == 0 }

    /// Each call makes a copy that is not wiped: call it only at the border, and do not keep the result.
    package func reveal() -> String {
        unsafe String(decoding: storage.bytes, as: UTF8.self)
    }

    package func revealBytes() -> [UInt8] {
        unsafe [UInt8](storage.bytes)
    }

    // @safe: the pointer does not leave this class, and its memory lives exactly as long as the object.
    // @unchecked Sendable: the bytes are written once, in `init`, and only read until `deinit`, which runs alone.
    @safe private final class Storage: @unchecked Sendable {
        let bytes: UnsafeMutableRawBufferPointer
        /// Larger than a slot of ``SecretPages``, or none was free: allocated on the heap, and wiped there.
        private let isOnHeap: Bool

        init(_ source: some Collection<UInt8>) {
            let count = source.count
            let slot = unsafe SecretPages.shared.allocate(count)
            isOnHeap = unsafe slot == nil
            unsafe bytes =
                if let slot = unsafe slot {
                    unsafe UnsafeMutableRawBufferPointer(start: slot, count: count)
                } else {
                    .allocate(byteCount: count, alignment: 1)
                }
            unsafe bytes.copyBytes(from: source)
        }

        deinit {
            guard let base = unsafe bytes.baseAddress else { return }
            guard isOnHeap else { return unsafe SecretPages.shared.deallocate(base, bytes.count) }
            unsafe explicit_bzero(base, bytes.count)
            unsafe bytes.deallocate()
        }
    }
}

extension Secret: Equatable {
    /// Compares all bytes, so that the duration reveals nothing about them.
    package static func == (left: Secret, right: Secret) -> Bool {
        if left.storage === right.storage { return true }
        guard left.count == right.count else { return false }
        var difference: UInt8 = 0
        for index in 0..<left.count {
            unsafe difference |= left.storage.bytes[index] ^ right.storage.bytes[index]
        }
        return difference == 0
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "<secret>" }
    package var debugDescription: String { "<secret>" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

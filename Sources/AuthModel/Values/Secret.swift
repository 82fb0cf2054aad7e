import Glibc

/// Bytes that must not be seen: a token, a password, a remembered credential.
///
/// It prints as `<secret>`, mirrors as nothing, is not `Codable`, and lies in ``SecretPages``, overwritten as soon as it goes.
/// The bytes come out only where they must: at the socket, in the store and in an HTTP request.
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

    /// The text itself. Each call makes a copy that nobody wipes: call it at the border, keep it nowhere.
    package func reveal() -> String {
        unsafe String(decoding: storage.bytes, as: UTF8.self)
    }

    package func revealBytes() -> [UInt8] {
        unsafe [UInt8](storage.bytes)
    }

    // @safe: nothing outside sees the pointer, and its memory lives exactly as long as the object.
    // @unchecked Sendable: the bytes are written once, in `init`, and only read until `deinit`, which runs alone.
    @safe private final class Storage: @unchecked Sendable {
        let bytes: UnsafeMutableRawBufferPointer
        /// Too large for ``SecretPages``, or there were none: from the heap, and wiped there.
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
    /// Compares every byte whatever the first difference, so that the time taken tells nothing.
    package static func == (left: Secret, right: Secret) -> Bool {
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

import AuthFiles
import AuthModel
import CSystemd
import Glibc

/// Memory without a file name (memfd_create(2)) that is passed to another process as a descriptor. Its holders can read it,
/// nobody can change it, and its creator can wipe it for all holders.
// @safe: the pointer does not leave this class, and its memory lives as long as the object.
// @unchecked Sendable: the bytes are written in `init`, and zeroed in `wipe`, any number of times; they are not read here.
@safe final class SealedMemory: @unchecked Sendable {
    /// Nobody can remove these seals (fcntl(2), "File sealing").
    static let seals = authd_seals

    private let bytes: UnsafeMutableRawBufferPointer
    let descriptor: CInt

    init(name: String, holding content: Secret) throws(SystemFailure) {
        descriptor = unsafe authd_memfd(name)
        guard descriptor >= 0 else { throw SystemFailure("create memory for the handover") }
        do throws(SystemFailure) {
            unsafe bytes = try Self.fill(descriptor, with: content)
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// A writable mapping from before the seal that forbids further ones.
    private static func fill(
        _ descriptor: CInt, with content: Secret
    ) throws(SystemFailure) -> UnsafeMutableRawBufferPointer {
        guard ftruncate(descriptor, off_t(content.count)) == 0 else {
            throw SystemFailure("create memory for the handover")
        }
        let start = unsafe mmap(nil, content.count, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        guard let start = unsafe start, unsafe start != MAP_FAILED else {
            throw SystemFailure("map memory for the handover")
        }
        // If it can be locked, it is not swapped out while we run.
        _ = unsafe mlock(start, content.count)
        let bytes = unsafe UnsafeMutableRawBufferPointer(start: start, count: content.count)
        unsafe bytes.copyBytes(from: content.revealBytes())
        guard fcntl(descriptor, authd_add_seals, seals) == 0 else {
            let failure = SystemFailure("seal memory for the handover")
            unsafe explicit_bzero(start, content.count)
            unsafe munmap(start, content.count)
            throw failure
        }
        return unsafe bytes
    }

    /// All holders read zeros from now on.
    func wipe() {
        guard let start = unsafe bytes.baseAddress else { return }
        unsafe explicit_bzero(start, bytes.count)
    }

    deinit {
        unsafe munmap(bytes.baseAddress, bytes.count)
        close(descriptor)
    }
}

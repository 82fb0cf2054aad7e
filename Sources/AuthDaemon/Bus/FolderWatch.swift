import AuthFiles
import CSystemd
import Glibc

/// Reports new names in a folder (inotify(7)), without a wake-up while there is none.
final class FolderWatch: ReadinessHandler {
    private let descriptor: CInt
    private let executor: SocketExecutor
    private let name: String
    private let appeared: () -> Void

    /// - Parameters:
    ///   - path: of a file, which need not exist. Its folder must.
    ///   - appeared: called when there is a file with that name.
    init(of path: String, on executor: SocketExecutor, appeared: @escaping () -> Void) throws(SystemFailure) {
        let parts = path.split(separator: "/")
        name = parts.last.map(String.init) ?? ""
        let folder = "/" + parts.dropLast().joined(separator: "/")
        self.executor = executor
        self.appeared = appeared
        descriptor = inotify_init1(CInt(IN_CLOEXEC) | CInt(IN_NONBLOCK))
        guard descriptor >= 0 else { throw SystemFailure("watch a folder") }
        let made = UInt32(IN_CREATE) | UInt32(IN_MOVED_TO) | UInt32(IN_ONLYDIR)
        guard unsafe inotify_add_watch(descriptor, folder, made) >= 0 else {
            let failure = SystemFailure("watch \(folder)")
            Glibc.close(descriptor)
            throw failure
        }
        do throws(SystemFailure) {
            try executor.watch(descriptor, for: .input, self)
        } catch {
            Glibc.close(descriptor)
            throw error
        }
    }

    func close() {
        executor.unwatch(descriptor)
        Glibc.close(descriptor)
    }

    func executorStops() {}

    func ready(for readiness: Readiness) {
        var isOurs = false
        unsafe withUnsafeTemporaryAllocation(byteCount: 4096, alignment: MemoryLayout<inotify_event>.alignment) {
            buffer in
            while true {
                let count = unsafe read(descriptor, buffer.baseAddress, buffer.count)
                guard count > 0 else { return }
                // The names are in the events, each followed by zeros.
                let bytes = unsafe UnsafeRawBufferPointer(rebasing: buffer[..<count])
                isOurs = unsafe isOurs || Self.names(in: bytes).contains(name)
            }
        }
        if isOurs { appeared() }
    }

    private static func names(in events: UnsafeRawBufferPointer) -> [String] {
        let head = MemoryLayout<inotify_event>.size
        var names: [String] = []
        var place = 0
        while place + head <= events.count {
            let length = unsafe Int(events.loadUnaligned(fromByteOffset: place + 12, as: UInt32.self))
            let end = min(events.count, place + head + length)
            let name = unsafe events[(place + head)..<end].prefix { $0 != 0 }
            names.append(unsafe String(decoding: name, as: UTF8.self))
            place = end
        }
        return names
    }
}

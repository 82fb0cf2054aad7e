package import Foundation
import Synchronization

/// A service manager's store of descriptors (systemd.service(5), FileDescriptorStoreMax=): what a service puts there by
/// name, until it takes it out. It outlives the service.
package final class FakeDescriptorStore: Sendable {
    package struct Entry: Sendable {
        package let name: String
        package let descriptor: Int32
    }

    private struct State {
        var entries: [Entry] = []
        var fewest: Int?
    }

    private let state = Mutex(State())

    package init() {}

    package var entries: [Entry] { state.withLock { $0.entries } }

    /// The fewest there ever were since the first came.
    package var fewest: Int? { state.withLock { $0.fewest } }

    /// Puts something there, as another program would; it is closed with this.
    package func put(_ descriptor: Int32, as name: String) {
        state.withLock { $0.entries.append(Entry(name: name, descriptor: descriptor)) }
    }

    /// A message of sd_notify(3), and what came with it.
    package func record(_ message: String, _ descriptors: [Int32]) {
        let lines = message.split(separator: "\n")
        let name = lines.first { $0.hasPrefix("FDNAME=") }.map { String($0.dropFirst("FDNAME=".count)) } ?? "stored"
        state.withLock { state in
            if lines.contains("FDSTOREREMOVE=1") {
                for entry in state.entries where entry.name == name { close(entry.descriptor) }
                state.entries.removeAll { $0.name == name }
            } else if lines.contains("FDSTORE=1") {
                state.entries += descriptors.map { Entry(name: name, descriptor: $0) }
            } else {
                return
            }
            state.fewest = min(state.fewest ?? .max, state.entries.count)
        }
        if !lines.contains("FDSTORE=1") { for descriptor in descriptors { close(descriptor) } }
    }

    /// The environment for the next run of the service (sd_listen_fds(3)), without its process id.
    package var environment: [String: String] {
        let entries = entries
        return entries.isEmpty
            ? [:] : ["LISTEN_FDS": "\(entries.count)", "LISTEN_FDNAMES": entries.map(\.name).joined(separator: ":")]
    }

    /// All that is in the memories there, for who looks for secrets.
    package func contents() -> [Data] { entries.map { Self.content(of: $0.descriptor) } }

    package static func content(of memory: Int32) -> Data {
        var bytes = [UInt8](repeating: 0, count: max(0, Int(lseek(memory, 0, SEEK_END))))
        let count = pread(memory, &bytes, bytes.count, 0)
        return Data(bytes.prefix(max(0, count)))
    }

    /// As authd makes it: F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_FUTURE_WRITE (fcntl(2)).
    package static func sealedMemory(holding bytes: Data, seals: Int32 = 0x1 | 0x2 | 0x4 | 0x10) -> Int32 {
        // memfd_create(2), which Swift's Glibc does not show, with MFD_CLOEXEC and MFD_ALLOW_SEALING.
        typealias Make = @convention(c) (UnsafePointer<CChar>, UInt32) -> Int32
        let memory = unsafeBitCast(dlsym(nil, "memfd_create"), to: Make.self)("test", 0x1 | 0x2)
        _ = bytes.withUnsafeBytes { write(memory, $0.baseAddress, $0.count) }
        _ = fcntl(memory, 1033, seals)
        return memory
    }

    deinit {
        for entry in state.withLock({ $0.entries }) { close(entry.descriptor) }
    }
}

package import Foundation

/// The memory of another process, read as root may read it (proc(5), /proc/pid/mem).
package struct ProcessMemory {
    package struct Finding: Sendable, Hashable {
        package let text: String
        /// The mapping it stands in, as `[heap]` or a file's name; empty for memory of no name.
        package let place: String
    }

    private struct Region {
        let start: UInt64
        let end: UInt64
        let name: String
    }

    private let pid: pid_t
    private let descriptor: Int32

    /// - Throws: Where the kernel does not let us read it.
    package init(of pid: pid_t) throws {
        self.pid = pid
        descriptor = open("/proc/\(pid)/mem", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure("/proc/\(pid)/mem: \(String(cString: strerror(errno)))") }
    }

    package func close() { Foundation.close(descriptor) }

    /// Where each text stands in what the process can write or has written.
    package func find(_ texts: [String]) throws -> [Finding] {
        let needles = texts.map { (text: $0, bytes: Array($0.utf8)) }
        let longest = needles.map(\.bytes.count).max() ?? 0
        var found: Set<Finding> = []
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        for region in try regions() {
            var position = region.start
            while position < region.end {
                let wanted = min(buffer.count, Int(region.end - position))
                let count = pread(descriptor, &buffer, wanted, off_t(position))
                // Pages that cannot be read, or a region that has gone meanwhile.
                guard count > 0 else { break }
                for needle in needles where Self.contains(needle.bytes, in: buffer, count) {
                    found.insert(Finding(text: needle.text, place: region.name))
                }
                guard count > longest else { break }
                position += UInt64(position + UInt64(count) < region.end ? count - longest : count)
            }
        }
        return Array(found)
    }

    private func regions() throws -> [Region] {
        try Self.maps(of: pid).split(separator: "\n").compactMap { line in
            let parts = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
            let ends = parts[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
            // What is never written holds no secret.
            guard ends.count == 2, parts[1].hasPrefix("rw") else { return nil }
            let name = parts.count > 5 ? parts[5].trimmingCharacters(in: .whitespaces) : ""
            return Region(start: ends[0], end: ends[1], name: name)
        }
    }

    /// Its mappings, a line each (proc(5), /proc/pid/maps). A read gives some of them at a time, and Foundation's takes the
    /// first for all.
    package static func maps(of pid: pid_t) throws -> String {
        let file = open("/proc/\(pid)/maps", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw Failure("/proc/\(pid)/maps: \(String(cString: strerror(errno)))") }
        defer { Foundation.close(file) }
        var text: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = read(file, &part, part.count)
            guard count > 0 else { return String(decoding: text, as: UTF8.self) }
            text += part[..<count]
        }
    }

    private static func contains(_ needle: [UInt8], in bytes: [UInt8], _ count: Int) -> Bool {
        guard let first = needle.first, count >= needle.count else { return false }
        return bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return false }
            let last = count - needle.count
            var position = 0
            while position <= last, let hit = memchr(base + position, Int32(first), last - position + 1) {
                if memcmp(hit, needle, needle.count) == 0 { return true }
                position = UnsafeRawPointer(hit) - base + 1
            }
            return false
        }
    }
}

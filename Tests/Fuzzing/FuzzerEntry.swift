import Glibc

/// The two functions that libFuzzer calls (https://llvm.org/docs/LibFuzzer.html). `Tests/Fuzzing/fuzz` links this
/// module with it; no other program calls them.
private let chosen: FuzzTarget? = getenv("FUZZ_TARGET").flatMap { FuzzTarget.named(String(cString: $0)) }

@_cdecl("LLVMFuzzerInitialize")
public func fuzzerInitialize(
    _ count: UnsafeMutablePointer<CInt>?, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> CInt {
    if chosen == nil {
        let names = FuzzTarget.all.map(\.name).joined(separator: " ")
        report("Set FUZZ_TARGET to one of: \(names)")
        exit(2)
    }
    return 0
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzerTestOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let chosen else { return 0 }
    do throws(Violation) {
        try chosen.run(Array(UnsafeBufferPointer(start: start, count: count)))
    } catch {
        report("\(chosen.name): \(error)")
        abort()
    }
    return 0
}

private func report(_ text: String) {
    let line = Array((text + "\n").utf8)
    _ = write(STDERR_FILENO, line, line.count)
}

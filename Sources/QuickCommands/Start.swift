import CStart

/// The start of `authc`.
@_cdecl("authc_start")
public func start(_ count: Int32, _ words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32 {
    if let command = unsafe QuickCommand(UnsafeBufferPointer(start: words, count: Int(count))), command.run() {
        return 0
    }
    return unsafe FullProgram.run(words)
}

import CStart

/// The start of `authc`.
@_cdecl("authc_start")
public func start(_ count: Int32, _ words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32 {
    var line: [Text] = []
    for place in 1..<max(1, Int(count)) where line.count < QuickCommand.longest {
        if let word = unsafe words[place] { unsafe line.append(Text(cString: word)) }
    }
    if let command = QuickCommand(line), let status = command.run() { return status }
    if let request = TextRequest(line), request.print() { return 0 }
    return unsafe FullProgram.run(words)
}

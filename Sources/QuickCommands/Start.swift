import CStart

/// The start of `authc`.
@_cdecl("authc_start")
public func start(_ count: Int32, _ words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32 {
    var line: [Text] = []
    var longest = QuickCommand.longest
    for place in 1..<max(1, Int(count)) where line.count < longest {
        guard let word = unsafe words[place] else { continue }
        unsafe line.append(Text(cString: word))
        // It is followed by the line that the user completes, which may have any length.
        if line.count == 1, line[0].equals(CompletionRequest.start) { longest = Int(count) }
    }
    if let command = QuickCommand(line), let status = command.run() { return status }
    if let request = CompletionRequest(line), let status = request.run() { return status }
    if let request = TextRequest(line), request.print() { return 0 }
    return unsafe FullProgram.run(words)
}

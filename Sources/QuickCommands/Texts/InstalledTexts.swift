import CStart

/// The file with the help and the completion scripts, beside `authc-full`, which has written it. `InstalledTexts` of
/// that program describes its format.
enum InstalledTexts {
    private static let name: StaticString = "authc-texts"
    /// Enough for the first line and the index.
    private static let longestStart = 32 << 10

    /// - Parameter line: a command line, as it is in the index.
    /// - Returns: `nil` if there is no such text, or no trusted file from this `authc-full`.
    static func text(of line: ByteString) -> ByteString? {
        guard let folder = InstalledFiles.ownFolder() else { return nil }
        for place in InstalledFiles.places {
            var path = folder
            path.append(place)
            var program = path
            program.append(FullProgram.name)
            var writer = stat()
            guard unsafe program.withCString({ unsafe stat($0, &writer) }) == 0 else { continue }
            path.append(name)
            let number = unsafe path.withCString { unsafe start_open($0) }
            guard number >= 0 else { return nil }
            defer { close(number) }
            // A file that is older than the program was left by another build.
            guard let found = InstalledFiles.trusted(number), found.st_mtim >= writer.st_mtim,
                let range = range(of: line, in: number, size: found.st_size)
            else { return nil }
            return read(range, of: number)
        }
        return nil
    }

    private static func range(of line: ByteString, in number: Int32, size: Int) -> Range<Int>? {
        guard let start = read(0..<min(size, longestStart), of: number) else { return nil }
        return unsafe start.bytes.withUnsafeBytes { range(of: line, in: unsafe Text($0), size: size) }
    }

    /// - Parameter start: of the file: at least the first line and the index.
    private static func range(of line: ByteString, in start: Text, size: Int) -> Range<Int>? {
        guard let (head, rest) = start.divided(at: .lineFeed), head.starts(with: releaseName),
            let (indexSize, textSize) = head.dropping(releaseName.bytes.count).numbers(),
            head.count + 1 + indexSize + textSize == size, indexSize <= rest.count
        else { return nil }
        let begin = head.count + 1 + indexSize
        var index = rest.prefix(indexSize)
        while let (entry, others) = index.divided(at: .lineFeed) {
            index = others
            guard let (place, after) = entry.divided(at: .space), let (length, name) = after.divided(at: .space) else {
                return nil
            }
            guard name.count == line.bytes.count, name.starts(with: line) else { continue }
            guard let place = place.decimal, let length = length.decimal, place + length <= textSize else { return nil }
            return begin + place..<begin + place + length
        }
        return nil
    }

    private static func read(_ range: Range<Int>, of number: Int32) -> ByteString? {
        var text = ByteString()
        let isWhole = unsafe text.append(count: range.count) { room in
            var done = 0
            while done < room.count {
                let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: room[done...])
                let count = unsafe pread(number, rest.baseAddress, rest.count, range.lowerBound + done)
                if count < 0, start_errno() == EINTR { continue }
                guard count > 0 else { return false }
                done += count
            }
            return true
        }
        return isWhole ? text : nil
    }

    /// The beginning of the first line, which differs for each release.
    private static var releaseName: ByteString {
        var name = ByteString()
        name.append(Self.name)
        name.append(" ")
        name.append(Release.version)
        name.append(" ")
        return name
    }
}

extension Text {
    /// Two numbers with a space between them.
    fileprivate func numbers() -> (Int, Int)? {
        guard let (first, second) = divided(at: .space), let first = first.decimal, let second = second.decimal else {
            return nil
        }
        return (first, second)
    }
}

private func >= (left: timespec, right: timespec) -> Bool {
    left.tv_sec > right.tv_sec || left.tv_sec == right.tv_sec && left.tv_nsec >= right.tv_nsec
}

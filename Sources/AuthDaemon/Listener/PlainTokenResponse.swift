import AuthMachines
import AuthWire
import Glibc

/// The line that answers a plain token request, written without allocation.
struct PlainTokenResponse {
    private static let end: StaticString = "}}\n"
    /// The most digits of a 64-bit number.
    private static let maxDigits = 20

    let token: LiveToken
    /// How long the token is valid; `nil` if the provider does not say.
    let validMilliseconds: Int64?

    /// The most bytes that the line may have.
    /// - Parameter idLength: of the request.
    func maxLength(idLength: Int) -> Int {
        RPCReply.head.utf8CodeUnitCount + idLength + RPCReply.middle.utf8CodeUnitCount + token.head.count
            + LiveToken.validKey.utf8CodeUnitCount + Self.maxDigits + Self.end.utf8CodeUnitCount
    }

    /// Writes the line.
    /// - Parameters:
    ///   - id: that of the request.
    ///   - room: at least ``maxLength(idLength:)`` bytes.
    /// - Returns: the number of bytes.
    func write(id: UnsafeRawBufferPointer, to room: UnsafeMutableRawBufferPointer) -> Int {
        var line = unsafe LineWriter(room)
        line.append(RPCReply.head)
        unsafe line.append(id)
        line.append(RPCReply.middle)
        unsafe token.head.withUnsafeBytes { unsafe line.append($0) }
        if let validMilliseconds {
            line.append(LiveToken.validKey)
            line.append(digits: validMilliseconds.magnitude)
        }
        line.append(Self.end)
        return line.count
    }
}

/// Writes pieces one after the other. A piece that has no room traps.
@safe private struct LineWriter {
    private let room: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    init(_ room: UnsafeMutableRawBufferPointer) { unsafe self.room = room }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        unsafe precondition(bytes.count <= room.count - count)
        unsafe UnsafeMutableRawBufferPointer(rebasing: room[count..<count + bytes.count]).copyMemory(from: bytes)
        count += bytes.count
    }

    mutating func append(_ text: StaticString) {
        unsafe append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func append(digits number: UInt64) {
        var (length, rest) = (1, number / 10)
        while rest > 0 { (length, rest) = (length + 1, rest / 10) }
        unsafe precondition(length <= room.count - count)
        count += length
        var place = count
        rest = number
        repeat {
            place -= 1
            unsafe room[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
    }
}

/// One message of the kernel's routing netlink (rtnetlink(7)); all lengths are checked.
package struct NetlinkMessage {
    /// From `<linux/netlink.h>` and `<linux/rtnetlink.h>`.
    enum Kind {
        static let error: UInt16 = 2
        static let done: UInt16 = 3
        static let newLink: UInt16 = 16
        static let getLink: UInt16 = 18
        static let newAddress: UInt16 = 20
        static let getAddress: UInt16 = 22
        static let newRoute: UInt16 = 24
        static let getRoute: UInt16 = 26
    }

    let kind: UInt16
    let sequence: UInt32
    /// The part after the header.
    let body: ArraySlice<UInt8>

    private static let headerBytes = 16

    /// The messages of one datagram, up to the first damaged one.
    package static func list(in bytes: ArraySlice<UInt8>) -> [NetlinkMessage] {
        var messages: [NetlinkMessage] = []
        var rest = bytes
        while rest.count >= headerBytes {
            let length = Int(rest.uint32(at: 0))
            guard length >= headerBytes, length <= rest.count else { break }
            messages.append(
                NetlinkMessage(
                    kind: rest.uint16(at: 4), sequence: rest.uint32(at: 8),
                    body: rest.dropFirst(headerBytes).prefix(length - headerBytes)))
            rest = rest.dropFirst(min(rest.count, (length + 3) & ~3))
        }
        return messages
    }

    /// A request for all objects of a kind (NLM_F_REQUEST | NLM_F_DUMP), of all address families.
    static func dump(_ kind: UInt16, sequence: UInt32) -> [UInt8] {
        // A `struct rtgenmsg` of one byte, padded to `struct ifinfomsg`, which older kernels require.
        let length: UInt32 = 32
        var bytes = length.bytes + kind.bytes + UInt16(0x301).bytes + sequence.bytes + UInt32(0).bytes
        bytes += [UInt8](repeating: 0, count: 16)
        return bytes
    }
}

/// The attributes after a message's fixed part, by number.
struct NetlinkAttributes {
    private var values: [UInt16: ArraySlice<UInt8>] = [:]

    init(_ bytes: ArraySlice<UInt8>) {
        var rest = bytes
        while rest.count >= 4 {
            let length = Int(rest.uint16(at: 0))
            guard length >= 4, length <= rest.count else { break }
            // The two upper bits are flags (NLA_TYPE_MASK).
            values[rest.uint16(at: 2) & 0x3FFF] = rest.dropFirst(4).prefix(length - 4)
            rest = rest.dropFirst(min(rest.count, (length + 3) & ~3))
        }
    }

    subscript(number: UInt16) -> ArraySlice<UInt8>? { values[number] }

    func integer(_ number: UInt16) -> UInt32? {
        guard let value = values[number], value.count >= 4 else { return nil }
        return value.uint32(at: 0)
    }
}

extension ArraySlice<UInt8> {
    /// In host order; zero beyond the end.
    func uint32(at offset: Int) -> UInt32 { integer(at: offset) }
    func uint16(at offset: Int) -> UInt16 { integer(at: offset) }

    private func integer<Value: FixedWidthInteger>(at offset: Int) -> Value {
        let size = MemoryLayout<Value>.size
        guard count >= offset + size else { return 0 }
        var value: Value = 0
        for index in 0..<size { value |= Value(self[startIndex + offset + index]) << Value(8 * index) }
        return Value(littleEndian: Value(bigEndian: 1) == 1 ? value.byteSwapped : value)
    }
}

extension FixedWidthInteger {
    /// In host order.
    fileprivate var bytes: [UInt8] {
        withUnsafeBytes(of: self) { Array($0) }
    }
}

import AuthWire
import CSystemd
import Glibc

/// A D-Bus message, of sd-bus(3). Only the sockets' thread uses it.
///
/// Invariant of one that is written: after a failure nothing more is added, and it is not sent.
// @safe: the pointer does not leave this folder, and the object holds a reference.
@safe final class BusMessage {
    enum Kind {
        case call, reply, failure, signal
    }

    /// What is read of one message, so that little is copied of the 128 MiB that sd-bus accepts. A call has a few options.
    private static let (mostValues, mostText) = (1024, 1 << 20)

    let raw: OpaquePointer
    /// The first failure of writing or reading, as a negative errno.
    private(set) var failure: CInt = 0
    /// Values that were read, and bytes of text.
    private var (values, text) = (0, 0)

    /// - Parameter raw: its reference is owned.
    init(taking raw: OpaquePointer) {
        unsafe self.raw = unsafe raw
    }

    /// Adds a reference.
    init(sharing raw: OpaquePointer) {
        unsafe self.raw = unsafe sd_bus_message_ref(raw)
    }

    deinit {
        unsafe sd_bus_message_unref(raw)
    }

    // MARK: Its head

    var kind: Kind? {
        var type: UInt8 = 0
        guard unsafe sd_bus_message_get_type(raw, &type) >= 0 else { return nil }
        switch Int(type) {
        case Int(SD_BUS_MESSAGE_METHOD_CALL): return .call
        case Int(SD_BUS_MESSAGE_METHOD_RETURN): return .reply
        case Int(SD_BUS_MESSAGE_METHOD_ERROR): return .failure
        case Int(SD_BUS_MESSAGE_SIGNAL): return .signal
        default: return nil
        }
    }

    /// A unique name, or that of the bus. The bus sets it.
    var sender: String? { unsafe string(sd_bus_message_get_sender(raw)) }
    var path: String? { unsafe string(sd_bus_message_get_path(raw)) }
    var interface: String? { unsafe string(sd_bus_message_get_interface(raw)) }
    var member: String? { unsafe string(sd_bus_message_get_member(raw)) }
    var signature: String? { unsafe string(sd_bus_message_get_signature(raw, 1)) }
    var expectsReply: Bool { unsafe sd_bus_message_get_expect_reply(raw) > 0 }
    /// The call that this answers.
    var answers: UInt64? {
        var cookie: UInt64 = 0
        return unsafe sd_bus_message_get_reply_cookie(raw, &cookie) >= 0 ? cookie : nil
    }
    /// The name of an error.
    var errorName: String? {
        guard let error = unsafe sd_bus_message_get_error(raw) else { return nil }
        return unsafe string(error.pointee.name)
    }

    private func string(_ start: UnsafePointer<CChar>?) -> String? {
        unsafe start.map { unsafe String(cString: $0) }
    }

    // MARK: Reading

    /// - Parameter type: of the string: `s`, `o` or `g`.
    func readString(_ type: Character = "s") -> String? {
        var start: UnsafePointer<CChar>?
        guard unsafe note(sd_bus_message_read_basic(raw, Self.letter(type), &start)), let start = unsafe start,
            isWithinLimits(text: unsafe strlen(start))
        else { return nil }
        return unsafe String(cString: start)
    }

    /// Counts one more value, before it is copied.
    private func isWithinLimits(text bytes: Int = 0) -> Bool {
        values += 1
        text += bytes
        return note(values <= Self.mostValues && text <= Self.mostText ? 0 : -E2BIG)
    }

    func readUInt32() -> UInt32? {
        var value: UInt32 = 0
        return unsafe note(sd_bus_message_read_basic(raw, Self.letter("u"), &value)) ? value : nil
    }

    /// A copy, which the caller closes.
    func readDescriptor() -> CInt? {
        var value: CInt = -1
        guard unsafe note(sd_bus_message_read_basic(raw, Self.letter("h"), &value)) else { return nil }
        let copy = fcntl(value, F_DUPFD_CLOEXEC, 3)
        return copy >= 0 ? copy : nil
    }

    /// An array of bytes as text, without zeros at its end.
    func readText() -> String? {
        var start: UnsafeRawPointer?
        var count = 0
        guard unsafe note(sd_bus_message_read_array(raw, Self.letter("y"), &start, &count)),
            isWithinLimits(text: count)
        else { return nil }
        let bytes = unsafe UnsafeRawBufferPointer(start: start, count: count)
        return unsafe String(decoding: bytes.prefix { $0 != 0 && $0 != 10 }, as: UTF8.self)
    }

    /// Reads `a{sv}`.
    /// - Parameter value: called with each key and the signature of its value, which it reads or skips; `false`: nothing more
    ///   is read.
    func readTable(_ value: (_ key: String, _ signature: String) -> Bool) {
        guard enter("a", "{sv}") else { return }
        while enter("e", "sv") {
            guard let key = readString() else { return }
            var contents: UnsafePointer<CChar>?
            guard unsafe sd_bus_message_peek_type(raw, nil, &contents) > 0, let signature = unsafe string(contents)
            else { return }
            guard enter("v", signature), value(key, signature), exit(), exit() else { return }
        }
        _ = exit()
    }

    /// Skips values of that signature.
    func skip(_ signature: String) -> Bool { unsafe note(sd_bus_message_skip(raw, signature)) }

    /// The next values as JSON: of a string, boolean, number or list of strings. Another type is not read.
    func readJSON(_ signature: String) -> JSON? {
        func number<Number>(_ value: inout Number) -> Bool {
            let type = CChar(bitPattern: signature.utf8.first ?? 0)
            let isRead = unsafe withUnsafeMutablePointer(to: &value) {
                unsafe note(sd_bus_message_read_basic(raw, type, UnsafeMutableRawPointer($0)))
            }
            return isRead && isWithinLimits()
        }
        var (small, signed, large): (UInt32, Int32, UInt64) = (0, 0, 0)
        var (whole, double): (Int64, Double) = (0, 0)
        switch signature {
        case "s", "o", "g": return readString(Character(signature)).map(JSON.string)
        case "b": return number(&signed) ? .bool(signed != 0) : nil
        case "u": return number(&small) ? .integer(Int64(small)) : nil
        case "i": return number(&signed) ? .integer(Int64(signed)) : nil
        case "x": return number(&whole) ? .integer(whole) : nil
        case "t": return number(&large) ? JSON(large) : nil
        case "d": return number(&double) ? .number(double) : nil
        case "as":
            guard enter("a", "s") else { return nil }
            var strings: [JSON] = []
            while unsafe sd_bus_message_at_end(raw, 0) == 0, let string = readString() {
                strings.append(.string(string))
            }
            return exit() ? .array(strings) : nil
        default: return nil
        }
    }

    private func enter(_ type: Character, _ contents: String) -> Bool {
        let entered = unsafe sd_bus_message_enter_container(raw, Self.letter(type), contents)
        if entered < 0 { _ = note(entered) }
        return entered > 0
    }

    private func exit() -> Bool { unsafe note(sd_bus_message_exit_container(raw)) }

    // MARK: Writing

    func append(_ value: BusValue) {
        switch value {
        case .string(let text): append("s", text)
        case .path(let text): append("o", text)
        case .bool(let flag):
            var number: CInt = flag ? 1 : 0
            unsafe appendBasic("b", &number)
        case .integer(let number):
            var number = number
            unsafe appendBasic("x", &number)
        case .double(let number):
            var number = number
            unsafe appendBasic("d", &number)
        case .strings(let texts): within("a", "s") { for text in texts { append("s", text) } }
        case .table(let entries): append(entries)
        }
    }

    func append(_ entries: [BusValue.Entry]) {
        within("a", "{sv}") {
            for entry in entries {
                within("e", "sv") {
                    append("s", entry.key)
                    appendVariant(entry.value)
                }
            }
        }
    }

    func appendVariant(_ value: BusValue) { within("v", value.signature) { append(value) } }

    /// The message has a copy of the descriptor.
    func append(descriptor: CInt) {
        var descriptor = descriptor
        unsafe appendBasic("h", &descriptor)
    }

    func append(uint32 value: UInt32) {
        var value = value
        unsafe appendBasic("u", &value)
    }

    /// `a{sa{sv}}` with one interface.
    func append(interface: String, _ properties: BusView.Properties) {
        within("a", "{sa{sv}}") {
            within("e", "sa{sv}") {
                append("s", interface)
                append(properties)
            }
        }
    }

    func within(_ type: Character, _ contents: String, _ body: () -> Void) {
        guard failure == 0 else { return }
        guard unsafe note(sd_bus_message_open_container(raw, Self.letter(type), contents)) else { return }
        body()
        guard failure == 0 else { return }
        _ = unsafe note(sd_bus_message_close_container(raw))
    }

    func append(_ type: Character, _ text: String) {
        guard failure == 0 else { return }
        _ = unsafe text.withCString { unsafe note(sd_bus_message_append_basic(raw, Self.letter(type), $0)) }
    }

    private func appendBasic(_ type: Character, _ value: UnsafeRawPointer) {
        guard failure == 0 else { return }
        _ = unsafe note(sd_bus_message_append_basic(raw, Self.letter(type), value))
    }

    private static func letter(_ type: Character) -> CChar { CChar(type.asciiValue ?? 0) }

    private func note(_ result: CInt) -> Bool {
        if result < 0, failure == 0 { failure = result }
        return result >= 0
    }
}

import AuthConnection
import AuthWire

// Between C's pointers and our objects. A handle holds one reference, which `release` gives up.

func handle(_ object: AnyObject) -> OpaquePointer {
    unsafe OpaquePointer(Unmanaged.passRetained(object).toOpaque())
}

func opened<Object: AnyObject>(_ handle: OpaquePointer, as _: Object.Type) -> Object {
    unsafe Unmanaged<Object>.fromOpaque(UnsafeRawPointer(handle)).takeUnretainedValue()
}

func release(_ handle: OpaquePointer?) {
    guard let handle = unsafe handle else { return }
    unsafe Unmanaged<AnyObject>.fromOpaque(UnsafeRawPointer(handle)).release()
}

/// - Returns: 0, or -1 with the error in its place.
func perform(_ error: ErrorPlace?, _ work: () throws(ClientError) -> Void) -> CInt {
    do throws(ClientError) {
        try work()
        return 0
    } catch let failure {
        if let error = unsafe error { unsafe error.pointee = handle(LibraryError(failure)) }
        return -1
    }
}

func object<Object: AnyObject>(_ handle: OpaquePointer?, _ name: String) throws(ClientError) -> Object {
    guard let handle = unsafe handle else { throw .invalid("\(name) is NULL") }
    return unsafe opened(handle, as: Object.self)
}

func required<Pointee>(
    _ place: UnsafeMutablePointer<Pointee>?, _ name: String
) throws(ClientError) -> UnsafeMutablePointer<Pointee> {
    guard let place = unsafe place else { throw .invalid("\(name) is NULL") }
    return unsafe place
}

func requiredText(_ pointer: UnsafePointer<CChar>?, _ name: String) throws(ClientError) -> String {
    guard let text = try unsafe text(pointer, name) else { throw .invalid("\(name) is NULL") }
    return text
}

func text(_ pointer: UnsafePointer<CChar>?, _ name: String) throws(ClientError) -> String? {
    guard let pointer = unsafe pointer else { return nil }
    guard let text = unsafe String(validatingCString: pointer) else { throw .invalid("\(name) is not UTF-8") }
    return text
}

/// The params of a request: an object.
func json(_ pointer: UnsafePointer<CChar>?, _ name: String) throws(ClientError) -> JSON? {
    guard let text = try unsafe text(pointer, name) else { return nil }
    let json: JSON
    do throws(JSONError) {
        json = try JSON(parsing: text)
    } catch {
        throw .invalid("\(name) is not JSON: \(error)")
    }
    guard case .object = json else { throw .invalid("\(name) must be a JSON object") }
    return json
}

/// - Parameter milliseconds: 0 for the default, -1 for no limit.
func deadline(_ milliseconds: Int64) throws(ClientError) -> Deadline {
    switch milliseconds {
    case 0: return .after(ClientLimits.callTimeout)
    case -1: return .never
    case ..<0: throw .invalid("a timeout of \(milliseconds) ms has passed already")
    default: return .after(.milliseconds(milliseconds))
    }
}

extension ClientError {
    /// An argument of the caller is wrong.
    static func invalid(_ message: String) -> ClientError { .agent(AgentError(.validation, message)) }

    static func ofConnection(_ method: String) -> ClientError {
        let message = "'\(method)' belongs to one connection, and a call does not keep its own"
        return .agent(AgentError(.unsupported, "\(message): use authclient_subscribe() for events"))
    }
}

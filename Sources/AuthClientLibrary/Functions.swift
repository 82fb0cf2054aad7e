import AuthConnection
import AuthWire
import CAuthClient
import Glibc

// The functions of authclient.h. What is documented there is not repeated here.

public typealias ErrorPlace = UnsafeMutablePointer<OpaquePointer?>
public typealias TextPlace = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

private let version = CString(Release.version)

@c @implementation
public func authclient_version() -> UnsafePointer<CChar>? {
    unsafe UnsafePointer(version.pointer)
}

@c @implementation
public func authclient_open(
    _ socket: UnsafePointer<CChar>?, _ client: UnsafeMutablePointer<OpaquePointer?>?, _ error: ErrorPlace?
) -> CInt {
    unsafe perform(error) { () throws(ClientError) in
        let place = try unsafe required(client, "client")
        let flag = try unsafe text(socket, "socket")
        let path: String
        do throws(AgentError) {
            path = try SocketPath.resolve(flag: flag, environment: environmentValue, userID: getuid())
        } catch {
            throw .agent(error)
        }
        unsafe place.pointee = handle(Connections(path: path))
    }
}

@c @implementation
public func authclient_close(_ client: OpaquePointer?) {
    unsafe release(client)
}

@c @implementation
public func authclient_call(
    _ client: OpaquePointer?, _ method: UnsafePointer<CChar>?, _ params: UnsafePointer<CChar>?,
    _ timeout: Int64, _ result: TextPlace?, _ error: ErrorPlace?
) -> CInt {
    unsafe perform(error) { () throws(ClientError) in
        let place = try unsafe required(result, "result")
        let connections: Connections = try unsafe object(client, "client")
        let name = try unsafe requiredText(method, "method")
        let request = try unsafe RPCRequest(id: nil, method: name, params: json(params, "params"))
        guard !request.belongsToConnection else { throw .ofConnection(name) }
        let answer = try connections.result(of: request, deadline: deadline(timeout))
        unsafe place.pointee = try CString.copy(answer.text())
    }
}

@c @implementation
public func authclient_token(
    _ client: OpaquePointer?, _ session: UnsafePointer<CChar>?, _ origin: UnsafePointer<CChar>?,
    _ minValid: Int64, _ timeout: Int64, _ token: TextPlace?, _ error: ErrorPlace?
) -> CInt {
    unsafe perform(error) { () throws(ClientError) in
        let place = try unsafe required(token, "token")
        let connections: Connections = try unsafe object(client, "client")
        var params: JSONObject = [:]
        params["session"] = try unsafe text(session, "session").map(JSON.string)
        params["origin"] = try unsafe text(origin, "origin").map(JSON.string)
        if minValid > 0 { params["min_valid_ms"] = .integer(minValid) }
        let request = RPCRequest(id: nil, method: TokenGet.name, params: .object(params))
        let answer = try decoded(
            connections.result(of: request, deadline: deadline(timeout)), as: TokenResult.self)
        unsafe place.pointee = try CString.copy(answer.accessToken)
    }
}

@c @implementation
public func authclient_reject(
    _ client: OpaquePointer?, _ session: UnsafePointer<CChar>?, _ token: UnsafePointer<CChar>?,
    _ timeout: Int64, _ error: ErrorPlace?
) -> CInt {
    unsafe perform(error) { () throws(ClientError) in
        let connections: Connections = try unsafe object(client, "client")
        var params: JSONObject = ["access_token": try unsafe .string(requiredText(token, "token"))]
        params["session"] = try unsafe text(session, "session").map(JSON.string)
        let request = RPCRequest(id: nil, method: TokenReject.name, params: .object(params))
        _ = try connections.result(of: request, deadline: deadline(timeout))
    }
}

@c @implementation
public func authclient_free(_ string: UnsafeMutablePointer<CChar>?) {
    guard let string = unsafe string else { return }
    // It may be a token.
    unsafe explicit_bzero(string, strlen(string))
    unsafe free(string)
}

@c @implementation
public func authclient_subscribe(
    _ client: OpaquePointer?, _ params: UnsafePointer<CChar>?, _ timeout: Int64,
    _ events: UnsafeMutablePointer<OpaquePointer?>?, _ error: ErrorPlace?
) -> CInt {
    unsafe perform(error) { () throws(ClientError) in
        let place = try unsafe required(events, "events")
        let connections: Connections = try unsafe object(client, "client")
        let limit = try deadline(timeout)
        let connection = try connections.open(deadline: limit)
        _ = try connection.result(
            of: RPCRequest(id: nil, method: EventsSubscribe.name, params: unsafe json(params, "params")),
            deadline: limit)
        unsafe place.pointee = handle(connection)
    }
}

@c @implementation
public func authclient_events_fd(_ events: OpaquePointer?) -> CInt {
    guard let events = unsafe events else { return -1 }
    return unsafe opened(events, as: CallConnection.self).descriptor
}

@c @implementation
public func authclient_next(_ events: OpaquePointer?, _ event: TextPlace?, _ error: ErrorPlace?) -> CInt {
    var isFound = false
    let result = unsafe perform(error) { () throws(ClientError) in
        let place = try unsafe required(event, "event")
        let connection: CallConnection = try unsafe object(events, "events")
        guard let found = try connection.nextEvent() else { return }
        unsafe place.pointee = try CString.copy(found.text())
        isFound = true
    }
    return result < 0 ? result : isFound ? 1 : 0
}

@c @implementation
public func authclient_events_close(_ events: OpaquePointer?) {
    unsafe release(events)
}

@c @implementation
public func authclient_error_kind(_ error: OpaquePointer?) -> UnsafePointer<CChar>? {
    guard let error = unsafe error else { return nil }
    return unsafe UnsafePointer(opened(error, as: LibraryError.self).kind.pointer)
}

@c @implementation
public func authclient_error_message(_ error: OpaquePointer?) -> UnsafePointer<CChar>? {
    guard let error = unsafe error else { return nil }
    return unsafe UnsafePointer(opened(error, as: LibraryError.self).message.pointer)
}

@c @implementation
public func authclient_error_json(_ error: OpaquePointer?) -> UnsafePointer<CChar>? {
    guard let error = unsafe error else { return nil }
    return unsafe UnsafePointer(opened(error, as: LibraryError.self).json.pointer)
}

@c @implementation
public func authclient_error_retryable(_ error: OpaquePointer?) -> CInt {
    guard let error = unsafe error else { return 0 }
    return unsafe opened(error, as: LibraryError.self).isRetryable ? 1 : 0
}

@c @implementation
public func authclient_error_retry_after(_ error: OpaquePointer?) -> Int64 {
    guard let error = unsafe error else { return -1 }
    return unsafe opened(error, as: LibraryError.self).retryAfter?.wholeMilliseconds ?? -1
}

@c @implementation
public func authclient_error_free(_ error: OpaquePointer?) {
    unsafe release(error)
}

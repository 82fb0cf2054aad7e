import CStart

/// The folder of the agent's socket, as `SocketPath` of AuthWire finds it, for the usual cases: the others are reported by the
/// full program, or have a fallback there.
struct AgentFolder {
    let socket: ByteString
    /// With its slash at the end.
    private let folder: ByteString
    /// `sun_path` without its end (unix(7)).
    private static let longestSocket = 107

    init?() {
        var socket = ByteString()
        if let path = Text(environment: "AUTHD_SOCKET") {
            socket.append(path)
        } else if let folder = Text(environment: "XDG_RUNTIME_DIR") {
            socket.append(folder)
            socket.append("/authd/socket")
        }
        guard socket.bytes.count <= Self.longestSocket, socket.bytes.first == .slash,
            let slash = socket.bytes.lastIndex(of: .slash)
        else { return nil }
        folder = unsafe socket.bytes.withUnsafeBytes { bytes in
            unsafe ByteString(Text(UnsafeRawBufferPointer(rebasing: bytes[...slash])))
        }
        self.socket = socket
    }

    /// The path of a file in the folder.
    func file(_ name: StaticString) -> ByteString {
        var path = folder
        path.append(name)
        return path
    }
}

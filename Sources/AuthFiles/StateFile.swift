internal import Glibc

/// A value of the agent that outlives a run. It is not a secret.
package struct StateFile<Value: Sendable>: Sendable {
    /// Far above what a thousand sessions need.
    private static var maxBytes: Int { 1 << 20 }

    private let file: AtomicFile
    private let isDurable: Bool
    private let encode: @Sendable (Value) -> [UInt8]
    private let decode: @Sendable ([UInt8]) -> Value

    /// - Parameters:
    ///   - isDurable: it survives a loss of power. Its folder is created, and removed with the last file.
    ///   - encode: the content of the file; empty: no file.
    package init(
        _ file: AtomicFile, isDurable: Bool = true, encode: @escaping @Sendable (Value) -> [UInt8],
        decode: @escaping @Sendable ([UInt8]) -> Value
    ) {
        self.file = file
        self.isDurable = isDurable
        self.encode = encode
        self.decode = decode
    }

    /// A file that cannot be read counts as empty.
    package func load() -> Value { decode((try? file.read(atMost: Self.maxBytes)) ?? []) }

    package func replace(_ value: Value) throws(SystemFailure) {
        let bytes = encode(value)
        guard !bytes.isEmpty else {
            try? file.remove(durably: false)
            if isDurable { _ = unsafe rmdir(file.folder) }
            return
        }
        if isDurable { try PrivateFolder.make(file.folder) }
        try file.replace(with: bytes, durably: isDurable)
    }
}

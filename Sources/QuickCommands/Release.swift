/// `Release` of AuthWire.
enum Release {
    static var version: ByteString {
        var text = ByteString()
        text.append("0.1.0")
        return text
    }

    /// As GNU programs print it.
    static var line: ByteString {
        var text = ByteString()
        text.append("authc ")
        text.append(version)
        return text
    }
}

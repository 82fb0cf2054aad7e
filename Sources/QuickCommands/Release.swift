/// `Release` of AuthWire.
enum Release {
    static var version: ByteString {
        var text = ByteString()
        text.append("0.1.0")
        return text
    }
}

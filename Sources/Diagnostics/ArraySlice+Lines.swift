// The only place that decides where a line of a file ends: line numbers, the lines shown with them, and the lines that
// are hidden because of a password must agree.
extension ArraySlice<UInt8> {
    /// The octets before the first line end, which is LF, CR or CRLF; all octets if there is none.
    package var firstLine: ArraySlice<UInt8> { prefix { $0 != 0x0A && $0 != 0x0D } }

    /// The octets after the first line end; `nil` if there is none.
    package var afterFirstLine: ArraySlice<UInt8>? {
        guard let end = firstIndex(where: { $0 == 0x0A || $0 == 0x0D }) else { return nil }
        let isPair = self[end] == 0x0D && end + 1 < endIndex && self[end + 1] == 0x0A
        return self[(end + (isPair ? 2 : 1))...]
    }
}

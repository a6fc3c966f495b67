extension String {
    /// The string without white space at both ends.
    var trimmed: String {
        let scalars = unicodeScalars
        let isSpace = { (scalar: UnicodeScalar) in scalar.properties.isWhitespace }
        guard let first = scalars.firstIndex(where: { !isSpace($0) }),
            let last = scalars.lastIndex(where: { !isSpace($0) })
        else { return "" }
        return String(scalars[first...last])
    }

    /// The Unicode scalars in the range from `from` with `length`, as far as the string has them.
    func slice(from: Int64, length: Int64) -> String {
        let (end, overflow) = from.addingReportingOverflow(length)
        let start = Int(Swift.max(0, from))
        let stop = overflow ? (length < 0 ? 0 : Int.max) : Int(Swift.max(0, end))
        guard stop > start else { return "" }
        return String(UnicodeScalarView(unicodeScalars.dropFirst(start).prefix(stop - start)))
    }
}

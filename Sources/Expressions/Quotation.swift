/// A quotation in a message: one line of limited length.
enum Quotation {
    /// In Unicode scalars.
    static let maximumLength = 60

    static func of(_ octets: [UInt8], _ range: Range<Int>? = nil) -> String {
        let octets = octets[(range ?? octets.indices).clamped(to: octets.indices)]
        let text = String(decoding: octets, as: UTF8.self)
        let line = String(text.map { $0.isNewline || $0 == "\t" ? " " : $0 })
        guard line.unicodeScalars.count > maximumLength else { return line }
        return String(String.UnicodeScalarView(line.unicodeScalars.prefix(maximumLength - 1))) + "…"
    }
}

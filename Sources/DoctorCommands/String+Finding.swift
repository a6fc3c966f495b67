// Texts of findings and of the commands that mend them.
extension String {
    /// The text as one word of a shell command.
    var shellWord: String {
        let isPlain =
            !isEmpty
            && utf8.allSatisfy { octet in
                switch UInt8(octet) {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "_"),
                    UInt8(ascii: "-"), UInt8(ascii: "~"):
                    true
                default: false
                }
            }
        return isPlain ? self : "'" + replacing("'", with: #"'\''"#) + "'"
    }

    /// The text of a finding with several sentences, without the last full stop, which findings do not have.
    var asSentence: String { hasSuffix(".") ? String(dropLast()) : self }

    /// The first line of a sentence, without the full stop that some sentences have.
    var asFinding: String {
        let line = prefix { !$0.isNewline }
        return String(line.hasSuffix(".") ? line.dropLast() : line)
    }
}

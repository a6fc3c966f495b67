import RuleLoader
import WebService

extension FuzzTarget {
    /// Hiding the passwords of a rules file, and putting them back into the text that comes back.
    ///
    /// The octets are the text of the file. It is also repeated in one line, because the time must not grow with the square of
    /// the length; the fuzzer ends a run that takes too long.
    static let passwords = FuzzTarget(name: "passwords") { octets throws(BrokenPromise) in
        try check(octets)
        let line = octets.filter { $0 != 0x0A && $0 != 0x0D }
        guard !line.isEmpty else { return }
        try check((0..<max(1, 16_384 / line.count)).flatMap { _ in line })
    }

    private static func check(_ text: [UInt8]) throws(BrokenPromise) {
        let mask = PasswordMask(text, key: [1])
        let restored: [UInt8]
        do throws(PasswordMask.Unknown) {
            restored = try mask.restored(mask.masked)
        } catch {
            throw BrokenPromise(promise: "a text that was not edited comes back: line \(error.line)")
        }
        try promise("each password comes back to its place", restored == text)
        var end = 0
        for place in PasswordPlaces.find(in: text) {
            try promise("the places are in the order of the text, and none is empty", end <= place.lowerBound)
            try promise("no place is empty", !place.isEmpty && place.upperBound <= text.count)
            end = place.upperBound
        }
        let shown = PasswordPlaces.find(in: mask.masked).filter { !mask.masked[$0].starts(with: "***".utf8) }
        try promise("a text with hidden passwords shows none", shown.isEmpty)
    }
}

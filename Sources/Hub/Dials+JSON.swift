package import ButtonModel
package import JSON

/// Positions of dials by their words, as files keep them: `{"slot_3":24576}`.
extension [Dial: Int] {
    package var json: JSONValue {
        .object(sorted { $0.key.word < $1.key.word }.map { .init($0.key.word, .integer(Int64($0.value))) })
    }
}

extension JSONValue {
    /// `nil` where a member is no dial, or stands where none can.
    package var dialsValue: [Dial: Int]? {
        guard let members = objectValue else { return nil }
        var dials: [Dial: Int] = [:]
        for member in members {
            guard let dial = Dial(word: member.name), let units = member.value.integerValue.flatMap(Int.init(exactly:)),
                (0...Dial.unitsPerTurn).contains(units)
            else { return nil }
            dials[dial] = units
        }
        return dials
    }
}

package import ButtonModel
package import JSON

/// Positions of dials by their names, as in files: `{"slot_3":24576}`.
extension [Dial: Int] {
    package var json: JSONValue {
        .object(sorted { $0.key.name < $1.key.name }.map { .init($0.key.name, .integer(Int64($0.value))) })
    }
}

extension JSONValue {
    /// `nil` if a member's name is not a dial, or its value is not in 0…`Dial.unitsPerTurn`.
    package var dialsValue: [Dial: Int]? {
        guard let members = objectValue else { return nil }
        var dials: [Dial: Int] = [:]
        for member in members {
            guard let dial = Dial(name: member.name), let units = member.value.integerValue.flatMap(Int.init(exactly:)),
                (0...Dial.unitsPerTurn).contains(units)
            else { return nil }
            dials[dial] = units
        }
        return dials
    }
}

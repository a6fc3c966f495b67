package import ButtonModel
package import JSON

/// A new value for one property of a `StoredButton` that has a database column of its own: `.name("Hall")`.
///
/// `StoredState`, the database, `UnrecordedChanges`, the reserve and recordings handle all facts by `columns`. A new fact needs
/// a property of `StoredButton`, its column here and in `StoreSchema`, and the requests and answers that set and show it.
package struct StoredFact: Hashable, Sendable {
    package let column: StoredColumn
    /// A value that the column accepts; null for a missing value.
    package let value: JSONValue

    package static let nickname = Column(
        "nickname", \.identity.nickname, \.stringValue, JSONValue.string, reserveKind: "nickname")
    package static let firmware = Column(
        "firmware", \.identity.firmwareVersion, { $0.integerValue.flatMap(UInt32.init(exactly:)) }, { JSONValue($0) })
    package static let model = Column(
        "model", \.identity.model, { $0.stringValue.flatMap(FlicModel.init) }, { .string($0.rawValue) })
    package static let name = Column(
        "name", optional: \.name, \.stringValue, JSONValue.string, reserveKind: "name")
    /// The URL of the flicd from which a button comes. The fact has no effect on a button of the own adapter.
    package static let source = Column(
        "source", optional: \.source, \.stringValue, JSONValue.string, reserveKind: "source", isOnlyReplaced: true)
    package static let triggerMode = Column(
        "trigger_mode", optional: \.triggerMode, { $0.stringValue.flatMap(TriggerMode.init) },
        { .string($0.rawValue) }, reserveKind: "mode")
    package static let isAdvertisingConfigured = Column(
        "advertising_configured", \.isAdvertisingConfigured, { $0.integerValue.map { $0 != 0 } },
        { .integer($0 ? 1 : 0) })
    /// The positions of all dials that have ever moved.
    package static let dials = Column(
        "dials", \.dials, \.dialsValue, \.json, reserveKind: "dials", recordedName: "dials")
    /// The name of the radio that looks for the button, where there are several. It is not exported, because another house has
    /// other radios.
    package static let home = Column(
        "home", optional: \.home, \.stringValue, JSONValue.string, recordedName: "home")
    /// The voltages of the last two years. They are not exported, because they are of no use in another house.
    package static let batteryTrend = Column(
        "battery_weeks", \.batteryTrend, BatteryTrend.init, \.json, recordedName: "battery_weeks")
    package static let lastSeen = Column(
        "last_seen", optional: \.lastSeen, { $0.integerValue.map(UTCTime.init) }, { .integer($0.milliseconds) },
        recordedName: "last_seen_ms")

    /// The columns of all facts. A recorded button contains their values in this order.
    package static let columns = [
        nickname.column, firmware.column, model.column, name.column, source.column, triggerMode.column,
        isAdvertisingConfigured.column, dials.column, lastSeen.column, home.column,
        batteryTrend.column,
    ]

    /// Decodes a fact from a reserve; `nil` if a reserve contains no facts of this kind, or the column does not accept the
    /// value.
    package init?(reserveKind: String, value: JSONValue) {
        guard let column = Self.columns.first(where: { $0.reserveKind == reserveKind }),
            column.setter(value) != nil, !column.isOnlyReplaced || value != .null
        else { return nil }
        self.init(column: column, value: value)
    }

    /// Decodes a fact by the name of its column; `nil` if there is no such column, or it does not accept the value.
    package init?(column name: String, value: JSONValue) {
        guard let column = Self.columns.first(where: { $0.name == name }), column.setter(value) != nil,
            !column.isOnlyReplaced || value != .null
        else { return nil }
        self.init(column: column, value: value)
    }

    private init(column: StoredColumn, value: JSONValue) {
        self.column = column
        self.value = value
    }
}

/// The column of a `StoredFact` in the table `buttons`. Columns with the same name are equal.
package struct StoredColumn: Hashable, Sendable {
    package let name: String
    /// The kind of the fact in a reserve; `nil` if a reserve does not contain the fact, because the button reports it again.
    package let reserveKind: String?
    /// The name of the member in a recorded button, which is missing for null and `{}`; `nil` for a fact that
    /// `StoredButton.json` names itself.
    package let recordedName: String?
    /// True if a fact is ignored for buttons whose column is null.
    package let isOnlyReplaced: Bool
    /// The property's value: null, an integer, a text, or an object, which the database contains as text.
    package let value: @Sendable (StoredButton) -> JSONValue
    /// A function that sets the property to a value; `nil` if the column does not accept the value.
    package let setter: @Sendable (JSONValue) -> ((inout StoredButton) -> Void)?

    package static func == (left: StoredColumn, right: StoredColumn) -> Bool { left.name == right.name }
    package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension StoredFact {
    /// A column and the type of its values. Calling it with a value makes a fact.
    package struct Column<Value: Sendable>: Sendable {
        let column: StoredColumn
        private let write: @Sendable (Value) -> JSONValue

        /// - Parameters:
        ///   - read: decodes a value; `nil` if the column does not accept the JSON.
        ///   - write: encodes a value.
        fileprivate init(
            _ name: String, _ path: any WritableKeyPath<StoredButton, Value> & Sendable,
            _ read: @escaping @Sendable (JSONValue) -> Value?, _ write: @escaping @Sendable (Value) -> JSONValue,
            reserveKind: String? = nil, recordedName: String? = nil, isOnlyReplaced: Bool = false
        ) {
            column = StoredColumn(
                name: name, reserveKind: reserveKind, recordedName: recordedName, isOnlyReplaced: isOnlyReplaced,
                value: { write($0[keyPath: path]) },
                setter: { json in read(json).map { value in { $0[keyPath: path] = value } } })
            self.write = write
        }

        /// A column that may be null.
        fileprivate init<Wrapped>(
            _ name: String, optional path: any WritableKeyPath<StoredButton, Wrapped?> & Sendable,
            _ read: @escaping @Sendable (JSONValue) -> Wrapped?, _ write: @escaping @Sendable (Wrapped) -> JSONValue,
            reserveKind: String? = nil, recordedName: String? = nil, isOnlyReplaced: Bool = false
        ) where Value == Wrapped? {
            self.init(
                name, path, { $0 == .null ? .some(nil) : read($0).map { .some($0) } }, { $0.map(write) ?? .null },
                reserveKind: reserveKind, recordedName: recordedName, isOnlyReplaced: isOnlyReplaced)
        }

        package func callAsFunction(_ value: Value) -> StoredFact { StoredFact(column: column, value: write(value)) }
    }
}

extension StoredButton {
    mutating func apply(_ fact: StoredFact) {
        guard !fact.column.isOnlyReplaced || fact.column.value(self) != .null else { return }
        fact.column.setter(fact.value)?(&self)
    }
}

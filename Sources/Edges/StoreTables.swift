import ButtonModel
import CSQLite
package import Hub
import JSON
import Rules

// Reads and writes the store's values as rows. All SQL texts that name tables are here, in `StoreRuleState` and in
// `StoreSchema`.
extension Database {
    /// Stores a random installation id if there is none, or if the existing one cannot be used in a topic. Checks that
    /// the tables have all columns that are used.
    ///
    /// - Parameter report: called if the existing id could not be used.
    package func begin(entropy: UInt16, _ report: (StoreNotice) -> Void) throws(DatabaseFailure) {
        let digits = String(entropy, radix: 16)
        let id = String(repeating: "0", count: 4 - digits.count) + digits
        try run("INSERT OR IGNORE INTO installation (only_row, id, next_run) VALUES (1, ?, 1)", .text(id))
        let known = try rows("SELECT id FROM installation") { $0.text(0) }.first ?? ""
        if known.utf8.count != 4 || UInt16(known, radix: 16) == nil || known.lowercased() != known {
            try setInstallationID(id)
            report(.unreadable(table: "installation", row: "1"))
        }
        try check(Self.selectButtons)
        try check(Self.selectRuns)
        try checkRuleState()
        try checkFeed()
    }

    /// - Parameter report: called for each invalid row.
    package func load(_ report: (StoreNotice) -> Void) throws(DatabaseFailure) -> StoredState {
        let installation = try rows("SELECT id, next_run FROM installation") { row -> StoredState? in
            guard let id = row.text(0), let nextRun = row.integer(1) else { return nil }
            if !Tally.range.contains(nextRun) { report(.repaired(table: "installation", row: "1")) }
            return StoredState(installationID: id, nextRun: UInt64(max(1, Tally(clamping: nextRun).value)))
        }
        guard var state = installation.first else {
            throw DatabaseFailure(
                operation: "load", path: path, code: SQLITE_CORRUPT, cause: "the installation has no row")
        }
        state.buttons = try rows(Self.selectButtons) { row in
            let button = StoredButton(row) { report(.repaired(table: "buttons", row: row.text(0) ?? "?")) }
            if button == nil { report(.unreadable(table: "buttons", row: row.text(0) ?? "?")) }
            return button
        }
        state.runs = try rows(Self.selectRuns) { row in
            let run = StoredRun(row)
            if run == nil { report(.unreadable(table: "runs", row: row.integer(0).map(String.init) ?? "?")) }
            if let run { state.nextRun = max(state.nextRun, run.id + 1) }
            return run
        }
        state.rules = try loadRuleState(report)
        state.feed = try loadFeed(report)
        for waiting in state.rules.waitingRuns { state.nextRun = max(state.nextRun, waiting.run.rawValue + 1) }
        return state
    }

    package func apply(_ change: StoreChange) throws(DatabaseFailure) {
        switch change {
        case .progress(let id, let cursor, let recogniser, let pressCount, let sequence, let publishWatermark, let seen):
            try run(
                """
                UPDATE buttons SET
                    advertising_configured = CASE WHEN boot_id = ?2 THEN advertising_configured ELSE 0 END,
                    boot_id = ?2, event_count = ?3, recogniser = ?4, press_count = ?5, seq = ?6,
                    heard = ?7, small_event_count = ?8, last_seen = coalesce(?9, last_seen)
                WHERE id = ?1
                """,
                .text(id.description), .integer(Int64(cursor.bootID)), .integer(Int64(cursor.eventCount)),
                .text(recogniser), .integer(pressCount.value), .integer(sequence.value), .integer(publishWatermark),
                .integer(Int64(cursor.smallEventCount)), DatabaseValue(seen?.milliseconds))

        case .publishWatermark(let id, let publishWatermark):
            try run("UPDATE buttons SET heard = ?2 WHERE id = ?1", .text(id.description), .integer(publishWatermark))

        case .runStarted(let started):
            try run(
                """
                INSERT OR REPLACE INTO runs (id, rule, button, boot_id, event_count, started_at, small_event_count)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
                .integer(Int64(bitPattern: started.id)), .text(started.rule), .text(started.button?.description ?? ""),
                .integer(Int64(started.event.bootID)), .integer(Int64(started.event.eventCount)),
                .integer(started.startedAt.milliseconds), .integer(Int64(started.event.smallEventCount)))

        case .runEnded(let id):
            // A run's row shows that the run's number is used, as long as the row exists. The next number is stored
            // when a run ends and not when it starts, because a press waits for the start.
            try run(
                """
                UPDATE installation SET next_run = max(next_run, ?2) WHERE EXISTS (SELECT 1 FROM runs WHERE id = ?1)
                """,
                .integer(Int64(bitPattern: id)), .integer(Int64(bitPattern: id &+ 1)))
            try run("DELETE FROM runs WHERE id = ?", .integer(Int64(bitPattern: id)))

        case .rules(let change):
            try apply(change)

        case .putButton(let button):
            try put(button)

        case .removeButton(let id):
            try run("DELETE FROM buttons WHERE id = ?", .text(id.description))

        case .battery(let id, let millivolts, let measuredAt, let isLow):
            try run(
                "UPDATE buttons SET battery_mv = ?2, battery_at = ?3, battery_low = ?4 WHERE id = ?1",
                .text(id.description), .integer(Int64(millivolts)), .integer(measuredAt.milliseconds),
                .integer(isLow ? 1 : 0))

        case .batteryPercentage(let id, let percentage, let measuredAt, let isLow):
            try run(
                "UPDATE buttons SET battery_percent = ?2, battery_at = ?3, battery_low = ?4 WHERE id = ?1",
                .text(id.description), .integer(Int64(percentage)), .integer(measuredAt.milliseconds),
                .integer(isLow ? 1 : 0))

        case .settings(let id, let settings):
            try run(
                """
                UPDATE buttons SET
                    latency_mode = ?2, auto_disconnect = ?3, nickname_chosen_at = ?4, connection_wanted = ?5,
                    led_mode = ?6
                WHERE id = ?1
                """,
                .text(id.description), .text(settings.latencyMode.rawValue),
                DatabaseValue(settings.autoDisconnectTime.map(Int64.init)),
                DatabaseValue(settings.nicknameChosenAt.map(Int64.init(clamping:))),
                .integer(settings.isConnectionWanted ? 1 : 0), .text(settings.ledMode.rawValue))

        case .fact(let id, let fact):
            let column = fact.column.name
            let condition = fact.column.isOnlyReplaced ? " AND \(column) IS NOT NULL" : ""
            try run(
                "UPDATE buttons SET \(column) = ?2 WHERE id = ?1" + condition, .text(id.description),
                DatabaseValue(fact.value))

        case .feed(let change): try apply(change)
        }
    }

    func setInstallationID(_ id: String) throws(DatabaseFailure) {
        try run("UPDATE installation SET id = ?", .text(id))
    }

    private func put(_ button: StoredButton) throws(DatabaseFailure) {
        let (identity, cursor, settings) = (button.identity, button.cursor, button.settings)
        let values: [DatabaseValue] =
            [
                .text(button.id.description), .integer(Int64(identity.address.kind.rawValue)), .text(identity.uuid),
                .text(identity.serial), .integer(Int64(button.pairing?.identifier ?? 0)),
                .blob(button.pairing?.key.octets ?? []), .integer(button.pairedAt.milliseconds),
                .integer(Int64(cursor.bootID)), .integer(Int64(cursor.eventCount)),
                .integer(Int64(cursor.smallEventCount)), .integer(button.pressCount.value),
                .integer(button.sequence.value), .integer(button.publishWatermark), .text(button.recogniser),
                .text(settings.latencyMode.rawValue), .integer(settings.isConnectionWanted ? 1 : 0),
                DatabaseValue(settings.autoDisconnectTime.map(Int64.init)),
                DatabaseValue(settings.nicknameChosenAt.map(Int64.init(clamping:))), .text(settings.ledMode.rawValue),
                DatabaseValue(button.batteryMillivolts.map(Int64.init)),
                DatabaseValue(button.batteryPercentage.map(Int64.init)),
                DatabaseValue(button.batteryMeasuredAt?.milliseconds), .integer(button.isBatteryLow ? 1 : 0),
            ] + StoredFact.columns.map { DatabaseValue($0.value(button)) }
        try run(Self.putButton, values)
    }

    private static let buttonColumns =
        [
            "id", "address_kind", "uuid", "serial", "pairing_identifier", "pairing_key", "paired_at", "boot_id",
            "event_count", "small_event_count", "press_count", "seq", "heard", "recogniser", "latency_mode",
            "connection_wanted", "auto_disconnect", "nickname_chosen_at", "led_mode", "battery_mv", "battery_percent",
            "battery_at", "battery_low",
        ] + StoredFact.columns.map(\.name)

    private static let putButton = """
        INSERT OR REPLACE INTO buttons (\(buttonColumns.joined(separator: ", ")))
        VALUES (\(buttonColumns.map { _ in "?" }.joined(separator: ", ")))
        """

    private static let selectButtons = "SELECT \(buttonColumns.joined(separator: ", ")) FROM buttons ORDER BY id"

    private static let selectRuns = """
        SELECT id, rule, button, boot_id, event_count, started_at, small_event_count FROM runs ORDER BY id
        """
}

extension StoredButton {
    /// Reads a row of `selectButtons`; `nil` if a value cannot have been written by Tryck.
    ///
    /// - Parameter repaired: called when a count is out of its range.
    fileprivate init?(_ row: DatabaseRow, repaired: () -> Void) {
        guard let id = row.text(0).flatMap({ ButtonID($0) }),
            let kind = row.integer(1).flatMap(UInt8.init(exactly:)).flatMap(BluetoothAddress.Kind.init),
            let uuid = row.text(2), let serial = row.text(3),
            let pairingIdentifier = row.integer(4).flatMap(UInt32.init(exactly:)), let key = row.blob(5),
            let pairedAt = row.integer(6), let cursor = EventCursor(row, 7, 8, 9), let pressCount = row.integer(10),
            let sequence = row.integer(11), let publishWatermark = row.integer(12), let recogniser = row.text(13),
            let latencyMode = row.text(14).flatMap(LatencyMode.init), let isConnectionWanted = row.integer(15),
            let ledMode = row.text(18).flatMap(LEDMode.init), let isBatteryLow = row.integer(22)
        else { return nil }
        self.init(
            identity: ButtonIdentity(
                address: BluetoothAddress(rawValue: id.rawValue, kind: kind), uuid: uuid, serial: serial, nickname: "",
                firmwareVersion: 0),
            pairing: PairingKey(key).map { Pairing(identifier: pairingIdentifier, key: $0) },
            pairedAt: UTCTime(milliseconds: pairedAt), cursor: cursor,
            batteryMillivolts: row.integer(19).flatMap(Int.init(exactly:)),
            batteryPercentage: row.integer(20).flatMap(Int.init(exactly:)),
            batteryMeasuredAt: row.integer(21).map(UTCTime.init(milliseconds:)),
            pressCount: Tally(clamping: pressCount), sequence: Tally(clamping: sequence),
            publishWatermark: Tally(clamping: publishWatermark).value,
            settings: ButtonSettings(
                latencyMode: latencyMode, autoDisconnectTime: row.integer(16).flatMap(UInt16.init(exactly:)),
                nicknameChosenAt: row.integer(17).flatMap(UInt64.init(exactly:)),
                isConnectionWanted: isConnectionWanted != 0, ledMode: ledMode),
            isBatteryLow: isBatteryLow != 0, recogniser: recogniser)
        for (index, column) in zip(Int32(23)..., StoredFact.columns) {
            let text = row.text(index)
            let value = row.integer(index).map(JSONValue.integer) ?? text.map(JSONValue.string) ?? .null
            // The column of an object contains its text.
            let object = { text.flatMap { try? JSONValue(parsing: Array($0.utf8)) }.flatMap(column.setter) }
            guard let set = column.setter(value) ?? object() else { return nil }
            set(&self)
        }
        guard (pairing == nil) != (source == nil) else { return nil }
        if ![pressCount, sequence, publishWatermark].allSatisfy(Tally.range.contains) { repaired() }
    }
}

extension DatabaseValue {
    /// The value of a `StoredFact`.
    fileprivate init(_ json: JSONValue) {
        switch json {
        case .null: self = .null
        case .integer(let integer): self = .integer(integer)
        case .string(let text): self = .text(text)
        case .bool, .number, .array, .object: self = .text(json.description)
        }
    }
}

extension StoredRun {
    fileprivate init?(_ row: DatabaseRow) {
        guard let id = row.integer(0), Tally.range.contains(id), let rule = row.text(1), let buttonText = row.text(2),
            let event = EventCursor(row, 3, 4, 6), let startedAt = row.integer(5)
        else { return nil }
        let button = ButtonID(buttonText)
        // The text is empty for a run that was not started by a press.
        guard button != nil || buttonText.isEmpty else { return nil }
        self.init(
            id: UInt64(id), rule: rule, button: button, event: event,
            startedAt: UTCTime(milliseconds: startedAt))
    }
}

extension EventCursor {
    fileprivate init?(_ row: DatabaseRow, _ bootID: Int32, _ eventCount: Int32, _ smallEventCount: Int32) {
        guard let bootID = row.integer(bootID).flatMap(UInt32.init(exactly:)),
            let eventCount = row.integer(eventCount).flatMap(UInt32.init(exactly:)),
            let smallEventCount = row.integer(smallEventCount).flatMap(UInt32.init(exactly:))
        else { return nil }
        self.init(bootID: bootID, eventCount: eventCount, smallEventCount: smallEventCount)
    }
}

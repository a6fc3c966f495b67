import ButtonModel

/// The changes that an import makes to the store: known buttons are kept, unless they are to be replaced.
package struct ImportPlan: Hashable, Sendable {
    package enum Outcome: String, Hashable, Sendable {
        case added
        case kept
        case replaced
    }

    package struct Entry: Hashable, Sendable {
        /// The button after the import.
        package var button: StoredButton
        package var outcome: Outcome
    }

    /// Ordered by id.
    package var entries: [Entry]
    /// The export's id if the store has no buttons, so that Home Assistant recognises the devices that it had. `nil`:
    /// the store keeps its own id, which other systems may know already.
    package var installationID: String?

    package init(_ exported: ExportedState, into stored: StoredState, isReplacing: Bool) {
        let known = Dictionary(stored.buttons.map { ($0.id, $0) }) { first, _ in first }
        entries = exported.buttons.map { button in
            guard let old = known[button.id] else { return Entry(button: button, outcome: .added) }
            return isReplacing
                ? Entry(button: button.continuing(old), outcome: .replaced) : Entry(button: old, outcome: .kept)
        }
        installationID = stored.buttons.isEmpty ? exported.installationID : nil
    }

    package var changes: [StoreChange] {
        entries.filter { $0.outcome != .kept }.map { .putButton($0.button) }
    }
}

extension StoredButton {
    /// Keeps the higher press count and sequence number. If the pairing is unchanged, the event cursor and the states
    /// of recognition and dials are kept, too: the export is older, and its cursor would make events be handled twice.
    fileprivate func continuing(_ known: StoredButton) -> StoredButton {
        var button = self
        button.pressCount = max(known.pressCount, pressCount)
        if known.sequence >= sequence {
            (button.sequence, button.publishWatermark) = (known.sequence, known.publishWatermark)
        }
        guard known.pairing == pairing else { return button }
        button.cursor = known.cursor
        button.isAdvertisingConfigured = known.isAdvertisingConfigured
        button.recogniser = known.recogniser
        button.dials = known.dials
        return button
    }
}

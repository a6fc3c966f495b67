import ButtonModel

/// What an import does to what is kept here: a button that is known stays as it is, unless it is to be replaced.
package struct ImportPlan: Hashable, Sendable {
    package enum Outcome: String, Hashable, Sendable {
        case added
        case kept
        case replaced
    }

    package struct Entry: Hashable, Sendable {
        /// As it is known after the import.
        package var button: StoredButton
        package var outcome: Outcome
    }

    /// In the order of their ids.
    package var entries: [Entry]
    /// That of the export, where no button is known here: Home Assistant then finds what it knew. `nil`: the one here
    /// stays, for it may have told others of it.
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
    /// What `rename` set, else the nickname, else the serial.
    package var displayName: String { ButtonRecord(self).displayName }

    /// Counts go on. While the pairing is the same, so does the place in the button's events: the export is older, and
    /// no event is handled twice.
    fileprivate func continuing(_ known: StoredButton) -> StoredButton {
        var button = self
        button.pressCount = max(known.pressCount, pressCount)
        if known.sequence >= sequence { (button.sequence, button.heard) = (known.sequence, known.heard) }
        guard known.pairing == pairing else { return button }
        button.cursor = known.cursor
        button.isAdvertisingConfigured = known.isAdvertisingConfigured
        button.recogniser = known.recogniser
        button.dials = known.dials
        return button
    }
}

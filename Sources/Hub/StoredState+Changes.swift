package import ButtonModel
import Rules

extension StoredState {
    /// Applies the changes in order, with the same result as in the database.
    package mutating func apply(_ changes: [StoreChange]) {
        for change in changes { apply(change) }
    }

    /// Sets `syncedCursor` of the buttons whose events are synced only up to these cursors.
    package mutating func markAsSynced(_ cursors: [(ButtonID, EventCursor)]) {
        for (id, cursor) in cursors { update(id) { $0.syncedCursor = $0.cursor == cursor ? nil : cursor } }
    }

    private mutating func apply(_ change: StoreChange) {
        switch change {
        case .putButton(let button):
            buttons.removeAll { $0.id == button.id }
            let index = buttons.firstIndex { $0.id > button.id } ?? buttons.endIndex
            buttons.insert(button, at: index)
        case .removeButton(let id): buttons.removeAll { $0.id == id }
        case .progress(let id, let cursor, let recogniser, let pressCount, let sequence, let publishWatermark, let seen):
            update(id) {
                if $0.cursor.bootID != cursor.bootID { $0.isAdvertisingConfigured = false }
                $0.cursor = cursor
                $0.recogniser = recogniser
                $0.pressCount = pressCount
                $0.sequence = sequence
                $0.publishWatermark = publishWatermark
                $0.lastSeen = seen ?? $0.lastSeen
            }
        case .publishWatermark(let id, let publishWatermark): update(id) { $0.publishWatermark = publishWatermark }
        case .runStarted(let run):
            runs.removeAll { $0.id == run.id }
            let index = runs.firstIndex { $0.id > run.id } ?? runs.endIndex
            runs.insert(run, at: index)
            nextRun = max(nextRun, run.id &+ 1)
        case .runEnded(let id): runs.removeAll { $0.id == id }
        case .rules(let change): rules.apply(change)
        case .battery(let id, let millivolts, let at, let isLow):
            update(id) {
                $0.batteryMillivolts = millivolts
                $0.batteryMeasuredAt = at
                $0.isBatteryLow = isLow
            }
        case .batteryPercentage(let id, let percentage, let at, let isLow):
            update(id) {
                $0.batteryPercentage = percentage
                $0.batteryMeasuredAt = at
                $0.isBatteryLow = isLow
            }
        case .settings(let id, let settings): update(id) { $0.settings = settings }
        case .fact(let id, let fact): update(id) { $0.apply(fact) }
        case .feed(let change): feed.apply(change)
        }
    }

    private mutating func update(_ id: ButtonID, _ body: (inout StoredButton) -> Void) {
        guard let index = buttons.firstIndex(where: { $0.id == id }) else { return }
        body(&buttons[index])
    }
}

import ButtonModel
import Hub
import Rules

/// The contents of the SQLite store, in memory.
struct Store {
    private(set) var state = StoredState(installationID: "5a1f", nextRun: 1)

    func cursor(of id: ButtonID) -> EventCursor? { state.buttons.first { $0.id == id }?.cursor }

    mutating func apply(_ changes: [StoreChange]) { state.apply(changes) }
}

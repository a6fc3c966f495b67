import ButtonModel
import JSON
import MQTTTopics

/// A search for new buttons, by the own adapter and by all flicds together.
struct PairingSearch: Hashable, Sendable {
    /// When the search ends; `nil` if there is none.
    private(set) var end: Instant?
    /// True if a button was paired since the search began.
    private(set) var hasPaired = false
    /// The latest step, which stays after the search.
    private(set) var status = PairingStatus()

    /// A search is requested, or the end of a search in progress is changed.
    mutating func requested(until end: Instant) { self.end = end }

    /// The flicds begin to search; no search was in progress.
    mutating func began() { hasPaired = false }

    mutating func buttonPaired() { hasPaired = true }

    mutating func ended() { end = nil }

    mutating func advanced(_ step: [JSONValue.Member]) { status.advance(step) }
}

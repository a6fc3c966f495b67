import ButtonModel
import Feed

/// Accounts for every press of a `FeedWorld`: what has become of it.
struct FeedAccount {
    struct Press: Hashable {
        var button: ButtonID
        /// The button's counter, from 1.
        var counter: UInt32
    }

    struct Fate: Hashable {
        /// How often the broker accepted an action for the press.
        var actions = 0
        var isReported = false
        /// The site's disk was replaced before an engine claimed the press, as far as the site knew.
        var wentWithDisk = false
    }

    private(set) var fates: [Press: Fate] = [:]
    /// The presses in each message, by installation, button and number.
    private var messages: [FeedPlace: [Press]] = [:]
    /// The last counter for which the broker accepted an action, to check the order of a button's presses.
    private var latestAction: [ButtonID: UInt32] = [:]
    private(set) var problems: [String] = []

    mutating func pressed(_ press: Press) { fates[press] = Fate() }

    mutating func recorded(_ presses: [Press], as place: FeedPlace) { messages[place] = presses }

    /// A message has another installation in a new life of the site.
    mutating func moved(_ place: FeedPlace, to newPlace: FeedPlace) { messages[newPlace] = messages[place] }

    mutating func acted(_ press: Press) {
        fates[press]?.actions += 1
        if press.counter < latestAction[press.button] ?? 0 {
            problems.append("\(press) was acted on after a later one")
        }
        latestAction[press.button] = press.counter
    }

    /// The messages from `first` to `place` were reported as interrupted or lost.
    mutating func reported(first: Int, to place: FeedPlace) {
        var place = place
        for number in stride(from: place.number, through: first, by: -1) {
            place.number = number
            for press in messages[place] ?? [] { fates[press]?.isReported = true }
        }
    }

    mutating func wentWithDisk(_ place: FeedPlace) {
        for press in messages[place] ?? [] { fates[press]?.wentWithDisk = true }
    }

    var actedTwice: Int { fates.values.count { $0.actions > 1 } }
    var neverActed: Int { fates.values.count { $0.actions == 0 && !$0.wentWithDisk } }
    var reported: Int { fates.values.count { $0.actions == 0 && $0.isReported } }
    /// Presses that were reported although they were acted on.
    var reportedAndActed: Int { fates.values.count { $0.actions > 0 && $0.isReported } }

    /// The presses that have vanished: neither acted on, nor reported, nor waiting in a journal.
    func vanished(journal: Set<Press>) -> [Press] {
        fates.filter { press, fate in
            fate.actions == 0 && !fate.isReported && !fate.wentWithDisk && !journal.contains(press)
        }.keys.sorted { $0.counter < $1.counter }
    }
}

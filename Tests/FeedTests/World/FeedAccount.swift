import ButtonModel
import Feed

/// Accounts for every press of a `FeedWorld`: what has become of it.
///
/// A site that was restored from a copy gives numbers again, so a number can be that of several presses. A report is about the
/// press that an engine has claimed under the number, and only if there is none about the one that the site has under it now.
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
        /// An engine has recorded its claim of the press, and has not lost its disk since.
        var isClaimed = false
        /// The site's disk was replaced before an engine claimed the press, as far as the site knew.
        var wentWithDisk = false
    }

    private(set) var fates: [Press: Fate] = [:]
    /// The presses in each message on the site's disk, by installation, button and number.
    private var messages: [FeedPlace: [Press]] = [:]
    /// The presses in each message that an engine has claimed.
    private var claimed: [FeedPlace: [Press]] = [:]
    /// The presses in each message that the site's journal has dropped.
    private var dropped: [FeedPlace: [Press]] = [:]
    /// The last counter for which the broker accepted an action, to check the order of a button's presses.
    private var latestAction: [ButtonID: UInt32] = [:]
    private(set) var problems: [String] = []

    mutating func pressed(_ press: Press) { fates[press] = Fate() }

    mutating func recorded(_ presses: [Press], as place: FeedPlace) { messages[place] = presses }

    /// A message on the site's disk, or one that its journal has dropped, has another installation in a new life of the site.
    mutating func moved(_ place: FeedPlace, to newPlace: FeedPlace, isDropped: Bool) {
        messages[newPlace] = messages[place]
        if isDropped { drop(newPlace) }
    }

    /// The site's journal has dropped a message.
    mutating func drop(_ place: FeedPlace) {
        let presses = messages[place] ?? []
        dropped[place, default: []] += presses
    }

    /// The claim of a message is on the engine's disk.
    mutating func claimed(_ presses: [Press], as place: FeedPlace) {
        claimed[place] = presses
        for press in presses { fates[press]?.isClaimed = true }
    }

    mutating func engineLostDisk() {
        for press in fates.keys { fates[press]?.isClaimed = false }
    }

    mutating func acted(_ press: Press) {
        fates[press]?.actions += 1
        if press.counter < latestAction[press.button] ?? 0 {
            problems.append("\(press) was acted on after a later one")
        }
        latestAction[press.button] = press.counter
    }

    /// The messages from `first` to `place` were reported as interrupted.
    mutating func interrupted(first: Int, to place: FeedPlace) {
        for place in Self.places(first: first, to: place) {
            report(claimed[place] ?? dropped[place] ?? messages[place] ?? [])
        }
    }

    /// The messages from `first` to `place` were reported as lost. Those that a journal still has are not among them.
    mutating func lost(first: Int, to place: FeedPlace) {
        for place in Self.places(first: first, to: place) { report(dropped[place] ?? []) }
    }

    private mutating func report(_ presses: [Press]) {
        for press in presses { fates[press]?.isReported = true }
    }

    private static func places(first: Int, to place: FeedPlace) -> [FeedPlace] {
        stride(from: first, through: place.number, by: 1).map { number in
            var place = place
            place.number = number
            return place
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

    /// The presses that have vanished: neither acted on, nor reported, nor waiting in a journal. One that went with the site's
    /// disk has not vanished, unless an engine has claimed it.
    func vanished(journal: Set<Press>) -> [Press] {
        fates.filter { press, fate in
            fate.actions == 0 && !fate.isReported && !journal.contains(press)
                && (fate.isClaimed || !fate.wentWithDisk)
        }.keys.sorted { $0.counter < $1.counter }
    }
}

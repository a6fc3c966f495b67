import ButtonModel
import TestSupport

@testable import Feed

/// A site in a `FeedWorld`: its buttons, its disk, and its process, if it runs.
struct WorldSite {
    struct Disk {
        var installation: String
        var life = 1
        var session = 0
        /// The latest session in which messages were sent.
        var asked = 0
        var term = 0
        var journals: [ButtonID: Journal] = [:]

        /// The installation as messages name it.
        var feedInstallation: String { FeedLife(root: installation, number: life).installation }
    }

    /// The journal of a button, whose entries begin with `first`.
    struct Journal {
        var facts: FeedHello.Button
        var first = 1
        var entries: [FeedEntry] = []
        /// The button's counter of the last step in the journal.
        var counter: UInt32 = 0
        /// The first session in which each entry can have been sent.
        var sessions: [Int: Int] = [:]

        mutating func drop(below number: Int) {
            first = max(first, number)
            entries.removeAll { $0.number < first }
        }
    }

    static let client = "site"
    static let buttons = [hall, attic]

    var disk: Disk
    /// What a power cut leaves of the disk. An entry is synced before the button is told, and with it all that was recorded before.
    private(set) var synced: Disk
    /// What each button has stored: the counters of the presses that are not acknowledged.
    var stored: [ButtonID: [UInt32]] = [:]
    var pressCounts: [ButtonID: UInt32] = [:]
    var uplink: FeedUplink?
    /// What the process has still to do.
    var inputs: [FeedUplink.Input] = []
    var effects: [FeedUplink.Effect] = []
    var timer: Instant?
    var nextID = 1
    var isConnected = false

    init(installation: String) {
        disk = Self.newDisk(installation)
        synced = disk
    }

    mutating func sync() { synced = disk }

    static func newDisk(_ installation: String) -> Disk {
        var disk = Disk(installation: installation)
        for button in buttons { disk.journals[button] = Journal(facts: facts()) }
        return disk
    }

    mutating func start(at now: Instant) {
        sync()
        uplink = FeedUplink(
            topic: berlin, site: "berlin7", installation: disk.installation, life: disk.life)
        let asked = disk.asked
        let journals = disk.journals.mapValues { journal in
            let unsent = journal.entries.first { journal.sessions[$0.number] ?? 0 > asked }
            return FeedJournal(
                journal.facts, first: journal.first, sent: unsent.map { $0.number - 1 },
                unsentSession: unsent.flatMap { journal.sessions[$0.number] } ?? 0)
        }
        inputs = [.start(journals, term: disk.term)]
    }

    mutating func die() {
        uplink = nil
        inputs = []
        effects = []
        timer = nil
        isConnected = false
    }

    var isBusy: Bool { !inputs.isEmpty || !effects.isEmpty }

    /// The presses that are in the journals and not claimed.
    var waiting: Set<FeedAccount.Press> {
        var presses: Set<FeedAccount.Press> = []
        for (button, journal) in disk.journals {
            for entry in journal.entries where entry.number > journal.facts.claimed {
                presses.formUnion(entry.presses(of: button))
            }
        }
        for (button, counters) in stored {
            presses.formUnion(counters.map { FeedAccount.Press(button: button, counter: $0) })
        }
        return presses
    }
}

extension FeedEntry {
    func presses(of button: ButtonID) -> [FeedAccount.Press] { steps.presses(of: button) }
}

extension [FeedStep] {
    func presses(of button: ButtonID) -> [FeedAccount.Press] {
        compactMap { step in
            if case .press(let event) = step { FeedAccount.Press(button: button, counter: event.counter) } else { nil }
        }
    }
}

import ButtonModel
import TestSupport

@testable import Feed

/// A random life of a `FeedWorld`, and its quiet end, in which everything runs and nothing fails.
struct FeedStory {
    /// What may fail in a story.
    struct Faults: OptionSet {
        let rawValue: Int

        static let engine = Faults(rawValue: 1)
        static let site = Faults(rawValue: 2)
        static let broker = Faults(rawValue: 4)
        /// Connections end, and QoS 1 messages come twice.
        static let network = Faults(rawValue: 8)
        /// The broker loses what it has retained since it saved last.
        static let memory = Faults(rawValue: 16)
        /// A killed engine may lose its disk.
        static let engineDisk = Faults(rawValue: 32)
        /// The site may be installed anew, and its journals may be trimmed.
        static let journals = Faults(rawValue: 64)
        /// The site's disk may be replaced by an old copy of it.
        static let copies = Faults(rawValue: 128)
        /// The site's machine may lose its power.
        static let power = Faults(rawValue: 256)

        static let all: Faults = [.engine, .site, .broker, .network, .journals, .copies, .power]
    }

    let seed: UInt64
    let faults: Faults
    private(set) var world: FeedWorld
    private(set) var kills = 0
    private var random: SeededGenerator
    /// What has happened, for a failure's message.
    private(set) var log: [String] = []

    /// - Parameter startsConnected: everything is connected before anything happens.
    init(
        seed: UInt64, design: FeedDesign = .feed, faults: Faults? = nil, steps: Int = 400, startsConnected: Bool = false
    ) {
        self.seed = seed
        random = SeededGenerator(seed: seed)
        if let faults {
            self.faults = faults
        } else {
            // Claims that only the broker and the engine's disk know are lost if both forget.
            let memories: [Faults] = [[], .memory, .engineDisk]
            self.faults = Faults.all.union(memories[Int.random(in: 0..<3, using: &random)])
        }
        world = FeedWorld(design)
        if startsConnected { world.settle() }
        for _ in 0..<steps { step() }
        world.settle()
    }

    private mutating func step() {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<58: work()
        case 58..<68: world.press(anyButton())
        case 68..<78:
            let dies = faults.contains(.site) && chance(50)
            if dies { note("the site dies before an acknowledgement") }
            world.recordPress(chance(4) ? 2 : 1, of: anyButton(), diesBeforeAcknowledgement: dies)
        case 78..<86: world.pass(anyPause())
        case 86..<90: world.reviveSite()
        case 90..<94: world.reviveEngine()
        case 94..<96: fail()
        case 96:
            guard faults.contains(.network) else { break }
            world.network.handle(.repeatUnacknowledged(anyClient()), at: world.now)
        case 97:
            guard faults.contains(.network) else { break }
            let client = anyClient()
            note("the connection of the \(client) ends")
            world.cut(client, delivering: anyCount(client))
        case 98:
            world.network.handle(.save, at: world.now)
            if faults.contains(.copies), chance(2) { copyFault() }
        default: journalFault()
        }
    }

    private mutating func work() {
        let lanes = world.network.busyLanes
        switch Int.random(in: 0..<lanes.count + 2, using: &random) {
        case lanes.count: world.stepSite()
        case lanes.count + 1: world.stepEngine()
        case let place: world.carry(lanes[place])
        }
    }

    private mutating func fail() {
        switch Int.random(in: 0..<3, using: &random) {
        case 0 where faults.contains(.engine):
            let losesDisk = faults.contains(.engineDisk) && chance(3)
            note("the engine dies\(losesDisk ? " with its disk" : "")")
            world.killEngine(delivering: anyCount(WorldEngine.client), losingDisk: losesDisk)
        case 1 where faults.contains(.site):
            let count = anyCount(WorldSite.client)
            if faults.contains(.power), chance(2) {
                note("the site loses its power")
                world.cutPowerOfSite(delivering: count)
            } else {
                note("the site dies")
                world.killSite(delivering: count)
            }
            if faults.contains(.copies), chance(2) { copyFault() }
        case 2 where faults.contains(.broker):
            let forgets = faults.contains(.memory)
            note("the broker dies\(forgets ? " and forgets" : "")")
            world.killBroker(isForgetful: forgets)
        default: return
        }
        kills += 1
    }

    private mutating func copyFault() {
        if chance(2) {
            let isOld = chance(3)
            note("the site's disk is copied\(isOld ? " by an older version" : "")")
            world.copySite(ofOlderVersion: isOld)
        } else {
            note("the site's disk is replaced by the copy")
            world.restoreSite()
        }
    }

    private mutating func journalFault() {
        guard faults.contains(.journals) else { return }
        if chance(12) {
            note("the site is installed anew")
            world.installSiteAnew()
        } else if chance(3) {
            let button = anyButton()
            note("the journal of \(button) is trimmed")
            world.trimJournal(of: button, keeping: Int.random(in: 0...3, using: &random))
        }
    }

    // MARK: Choices

    private mutating func chance(_ oneIn: Int) -> Bool { Int.random(in: 0..<oneIn, using: &random) == 0 }

    private mutating func anyButton() -> ButtonID { chance(4) ? attic : hall }

    private mutating func anyClient() -> String { chance(2) ? WorldSite.client : WorldEngine.client }

    private mutating func anyCount(_ client: String) -> Int {
        Int.random(in: 0...world.network.sentCount(client), using: &random)
    }

    private mutating func anyPause() -> Duration {
        let pauses: [Duration] = [.milliseconds(1), .milliseconds(20), .milliseconds(60), .seconds(1), .seconds(11)]
        return pauses[Int.random(in: 0..<pauses.count, using: &random)]
    }

    private mutating func note(_ text: String) { log.append("\(world.now.nanoseconds / 1_000_000) ms: \(text)") }

    // MARK: Promises

    /// The promises that are broken, as sentences.
    var problems: [String] {
        let account = world.account
        let twice = account.fates.filter { $0.value.actions > 1 }.keys
        let vanished = account.vanished(journal: world.site.waiting)
        var problems = account.problems
        if !twice.isEmpty { problems.append("acted on more than once: \(twice)") }
        if !vanished.isEmpty { problems.append("neither acted on, nor reported, nor in a journal: \(vanished)") }
        let waiting = world.site.waiting
        if !waiting.isEmpty { problems.append("still in a journal although everything runs: \(waiting)") }
        return problems
    }
}

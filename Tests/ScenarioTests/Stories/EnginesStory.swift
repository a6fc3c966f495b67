import ButtonModel
import Glibc
import TestSupport
import Testing

/// A random life of an `EnginesWorld`, and its quiet end, in which everything runs and nothing fails.
struct EnginesStory {
    let seed: UInt64
    private(set) var world: EnginesWorld
    private(set) var kills = 0
    private var random: SeededGenerator
    /// The broker loses what it has retained since it saved last.
    private let isForgetful: Bool
    /// The site's disk may be replaced by an old copy of it.
    private let isCopied: Bool
    /// What has happened, for a failure's message.
    private(set) var log: [String] = []

    init(seed: UInt64, steps: Int = 500, losesClaims: Bool = false) {
        self.seed = seed
        world = EnginesWorld(losesClaims: losesClaims)
        random = SeededGenerator(seed: seed)
        let kind = Int.random(in: 0..<3, using: &random)
        (isForgetful, isCopied) = (kind == 0, kind == 1)
        if Bool.random(using: &random) { settle(.seconds(20)) }
        // The engine has to claim something between a copy and its use.
        let parts = isCopied ? 5 : 1
        for part in 1...parts {
            for _ in 0..<steps / parts { step() }
            if part < parts { settle(.seconds(15)) }
        }
        settle(.seconds(45))
    }

    private mutating func step() {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<68: work()
        case 68..<80: world.press(anyButton())
        case 80..<87: world.pass(anyPause())
        case 87..<90: world.reviveSite()
        case 90..<95: world.reviveEngine(anyEngine())
        default: fail()
        }
    }

    private mutating func work() {
        let lanes = world.network.busyLanes
        let place = Int.random(in: 0..<lanes.count + 4, using: &random)
        if place < lanes.count {
            world.carry(lanes[place])
        } else if place == lanes.count {
            world.stepSite()
        } else {
            for _ in 0..<3 { world.stepEngine(anyEngine()) }
        }
    }

    private mutating func fail() {
        let engine = anyEngine()
        let name = world.engines[engine].name
        switch Int.random(in: 0..<(isCopied ? 13 : 10), using: &random) {
        case 0, 1:
            note("\(name) dies")
            world.killEngine(engine, delivering: anyCount(name))
            kills += 1
        case 2:
            note("\(name) is told to end")
            world.stopInOrder(engine)
        case 3:
            note("\(name) is stopped")
            world.suspend(engine)
        case 4, 5:
            note("\(name) wakes up")
            world.resume(engine)
        case 6:
            note("the site dies")
            world.killSite(delivering: anyCount("site"))
            kills += 1
        case 7:
            note("the broker dies\(isForgetful ? " and forgets" : "")")
            world.killBroker(isForgetful: isForgetful)
            kills += 1
        case 8:
            let client = ["site", "a1", "a2"][Int.random(in: 0..<3, using: &random)]
            note("the connection of \(client) ends")
            world.cut(client, delivering: anyCount(client))
        case 10:
            note("the site's disk is copied")
            world.copySite()
        case 11, 12:
            note("the site's disk is replaced by the copy")
            world.restoreSite()
        default: world.network.handle(.save, at: world.now)
        }
    }

    /// Lets everything run without faults.
    private mutating func settle(_ duration: Duration) {
        let end = world.now + duration
        for engine in world.engines.indices { world.resume(engine) }
        while world.now < end {
            world.reviveSite()
            for engine in world.engines.indices { world.reviveEngine(engine) }
            while !world.isQuiet {
                for lane in world.network.busyLanes { world.carry(lane) }
                world.stepSite()
                for engine in world.engines.indices { world.stepEngine(engine) }
            }
            let isConnected = ["site", "a1", "a2"].allSatisfy { world.network.isConnected($0) }
            guard isConnected else {
                world.pass(.milliseconds(1))
                continue
            }
            guard let timer = world.timer else { return }
            world.pass(min(max(.zero, timer - world.now), .seconds(1)))
        }
    }

    private mutating func anyEngine() -> Int { Int.random(in: 0..<2, using: &random) }

    private mutating func anyButton() -> ButtonID {
        EnginesWorld.buttons[Int.random(in: 0..<4, using: &random) == 0 ? 1 : 0]
    }

    private mutating func anyCount(_ client: String) -> Int {
        Int.random(in: 0...world.network.sentCount(client), using: &random)
    }

    private mutating func anyPause() -> Duration {
        let pauses: [Duration] = [.milliseconds(1), .milliseconds(60), .seconds(1), .seconds(3), .seconds(11)]
        return pauses[Int.random(in: 0..<pauses.count, using: &random)]
    }

    private mutating func note(_ text: String) { log.append("\(world.now.nanoseconds / 1_000_000) ms: \(text)") }

    /// The promises that are broken, as sentences.
    var problems: [String] {
        var problems = world.problems
        let sorted = world.fates.sorted { ($0.key.button, $0.key.number) < ($1.key.button, $1.key.number) }
        let waiting = world.waiting
        for (press, fate) in sorted {
            if fate.actions > 1 { problems.append("\(press) was acted on \(fate.actions) times") }
            if fate.actions == 0, !fate.isReported, !fate.wentWithDisk, !waiting.contains(press) {
                problems.append("\(press) was neither acted on, nor reported, nor is it in the journal")
            }
        }
        if !waiting.isEmpty { problems.append("still in a journal although everything runs: \(waiting.count) presses") }
        if world.leaders.count != 1 { problems.append("in the end \(world.leaders) lead") }
        return problems
    }
}

@Suite("A site, two engines and a broker that die at any step")
struct EnginesStoryTests {
    /// The seeds of every run. `TRYCK_SEEDS` sets their number, and `TRYCK_SEED` the first one.
    private static let seeds: [UInt64] = {
        let count = number("TRYCK_SEEDS") ?? 30
        let first = number("TRYCK_SEED") ?? 1
        return (0..<count).map { first + $0 }
    }()

    private static func number(_ name: String) -> UInt64? {
        getenv(name).flatMap { UInt64(String(cString: $0)) }
    }

    /// Several seeds in one test, because a test for each seed costs more than its story.
    private static let handfuls = stride(from: 0, to: seeds.count, by: 25).map {
        Array(seeds[$0..<min($0 + 25, seeds.count)])
    }

    @Test("the stories notice engines whose claims are lost")
    func lostClaims() {
        #expect((1...20).contains { !EnginesStory(seed: $0, losesClaims: true).problems.isEmpty })
    }

    @Test("each press is acted on once, or reported, or still in a journal", arguments: handfuls)
    func promises(seeds: [UInt64]) {
        var (acted, lives) = (0, 0)
        for seed in seeds {
            let story = EnginesStory(seed: seed)
            lives += story.world.lives
            acted += story.world.fates.values.count { $0.actions > 0 }
            guard let problem = story.problems.first else { continue }
            Issue.record("seed \(seed): \(problem)\n\(story.log.joined(separator: "\n"))")
        }
        #expect(acted > 0 && (lives > 0 || seeds.count < 25))
    }
}

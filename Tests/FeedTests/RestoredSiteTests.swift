import ButtonModel
import TestSupport
import Testing

@testable import Feed

@Suite("A site restored from an old copy of its disk")
struct RestoredSiteTests {
    /// Presses a button, and lets the site record it.
    private static func press(_ count: Int, of button: ButtonID = hall, in world: inout FeedWorld) {
        for _ in 0..<count {
            world.press(button)
            world.recordPress(1, of: button)
        }
    }

    /// Starts the site without a connection, with presses after each start.
    private static func offlineStart(_ count: Int, in world: inout FeedWorld) {
        world.killSite(delivering: 0)
        world.site.start(at: world.now)
        press(count, in: &world)
    }

    /// A site of which a copy was made with 3 claimed presses and more that are not, and that has gone on since.
    ///
    /// - Parameter reconnections: how often it has connected since.
    private static func copied(
        unclaimed: Int = 0, since: Int = 5, reconnections: Int = 0, byOlderVersion: Bool = false
    ) -> FeedWorld {
        var world = FeedWorld(.feed)
        world.settle()
        press(3, in: &world)
        press(1, of: attic, in: &world)
        world.settle()
        if unclaimed > 0 {
            world.killEngine(delivering: 0)
            press(unclaimed, in: &world)
            world.settle(withEngine: false)
        }
        world.copySite(ofOlderVersion: byOlderVersion)
        world.settle()
        for _ in 0..<reconnections {
            world.cut(WorldSite.client, delivering: 0)
            world.settle()
        }
        press(since, in: &world)
        world.settle()
        return world
    }

    /// The promises that are broken in the end.
    private static func problems(_ world: inout FeedWorld) -> [String] {
        world.settle()
        press(2, in: &world)
        press(2, of: attic, in: &world)
        world.settle()
        var problems = world.account.problems
        for (press, fate) in world.account.fates.sorted(by: { $0.key.counter < $1.key.counter }) {
            if fate.actions > 1 { problems.append("\(press) was acted on \(fate.actions) times") }
        }
        let vanished = world.account.vanished(journal: world.site.waiting)
        if !vanished.isEmpty { problems.append("lost without a word: \(vanished)") }
        if !world.site.waiting.isEmpty { problems.append("still in a journal: \(world.site.waiting)") }
        return problems
    }

    @Test("presses after the restore are acted on", arguments: [0, 1, 2, 5])
    func online(reconnections: Int) {
        var world = Self.copied(reconnections: reconnections)
        world.restoreSite()
        world.settle()
        Self.press(4, in: &world)
        #expect(Self.problems(&world) == [])
        #expect(world.account.neverActed == 0)
    }

    @Test(
        "presses after the restore and before the site hears of claims are acted on, whether fewer or more than it has missed",
        arguments: [2, 5, 9], [0, 1, 3])
    func offline(count: Int, reconnections: Int) {
        var world = Self.copied(reconnections: reconnections)
        world.restoreSite()
        Self.offlineStart(count, in: &world)
        #expect(Self.problems(&world) == [])
        #expect(world.account.neverActed == 0)
    }

    @Test("presses in the copy that were claimed since are not acted on again", arguments: [0, 1, 3], [0, 3, 9])
    func claimedSince(reconnections: Int, count: Int) {
        var world = Self.copied(unclaimed: 4, reconnections: reconnections)
        world.restoreSite()
        Self.offlineStart(count, in: &world)
        #expect(Self.problems(&world) == [])
        #expect(world.account.neverActed == 0)
    }

    @Test(
        "a site that is restored without a network and started again acts on its presses, or reports them",
        arguments: [0, 3])
    func severalStarts(reconnections: Int) {
        var world = Self.copied(unclaimed: 2, reconnections: reconnections)
        world.restoreSite()
        for _ in 0..<3 { Self.offlineStart(2, in: &world) }
        #expect(Self.problems(&world) == [])
        #expect(world.account.neverActed == (reconnections == 0 ? 0 : world.account.reported))
    }

    @Test("a site can be restored from the same copy again")
    func twice() {
        var world = Self.copied(unclaimed: 2)
        for count in [3, 0, 7] {
            world.restoreSite()
            Self.offlineStart(count, in: &world)
            world.settle()
            Self.press(3, in: &world)
            world.settle()
        }
        #expect(Self.problems(&world) == [])
        #expect(world.account.neverActed == 0)
    }

    @Test("a site can be restored while the engine is off", arguments: [0, 3])
    func engineOff(reconnections: Int) {
        var world = Self.copied(unclaimed: 2, reconnections: reconnections)
        world.killEngine(delivering: 0)
        world.restoreSite()
        Self.offlineStart(3, in: &world)
        world.settle(withEngine: false)
        Self.press(4, in: &world)
        world.settle(withEngine: false)
        #expect(Self.problems(&world) == [])
        #expect(world.account.neverActed == 0)
    }

    @Test("a site can be restored although the broker has lost what it retained", arguments: [0, 3], [true, false])
    func forgetfulBroker(reconnections: Int, isEngineOff: Bool) {
        var world = Self.copied(unclaimed: 2, reconnections: reconnections)
        if isEngineOff { world.killEngine(delivering: 0) }
        world.killSite(delivering: 0)
        world.killBroker(isForgetful: true)
        world.restoreSite()
        Self.offlineStart(9, in: &world)
        if isEngineOff { world.settle(withEngine: false) }
        Self.press(4, in: &world)
        #expect(Self.problems(&world) == [])
        #expect(world.account.neverActed == 0)
    }

    @Test("what was claimed and not done before a restore is reported, and not the press that has its number now")
    func reportOfFormerLife() {
        var world = Self.copied(since: 0)
        Self.press(1, in: &world)
        let before = FeedAccount.Press(button: hall, counter: 4)
        while !world.engine.disk.values.contains(where: { $0.button == hall && $0.claim.number == 4 }) {
            for lane in world.network.busyLanes { world.carry(lane) }
            world.stepSite()
            world.stepEngine()
        }
        world.killEngine(delivering: 0)
        world.restoreSite()
        Self.offlineStart(1, in: &world)
        #expect(Self.problems(&world) == [])
        #expect(world.account.fates[before]?.isReported == true)
        let after = FeedAccount.Press(button: hall, counter: 5)
        #expect(world.account.fates[after]?.actions == 1 && world.account.fates[after]?.isReported == false)
    }

    @Test(
        "a copy of an older version, which knew no sessions, loses and repeats nothing that is not reported",
        arguments: [0, 1, 4], [(0, 1), (3, 1), (9, 1), (2, 3)])
    func olderVersion(unclaimed: Int, presses: (count: Int, starts: Int)) {
        for reconnections in [0, 3] {
            var world = Self.copied(unclaimed: unclaimed, reconnections: reconnections, byOlderVersion: true)
            world.restoreSite()
            for _ in 0..<presses.starts { Self.offlineStart(presses.count, in: &world) }
            #expect(Self.problems(&world) == [])
            let mayBeUnsure = presses.starts > 1 && reconnections > 0
            #expect(world.account.neverActed == (mayBeUnsure ? world.account.reported : 0))
        }
    }

    @Test("a power cut before it is on the disk that an engine has asked loses and repeats nothing", arguments: 0...40)
    func powerCut(steps: Int) {
        var world = FeedWorld(.feed)
        world.settle()
        Self.press(2, in: &world)
        world.settle()
        world.cut(WorldSite.client, delivering: 0)
        Self.press(3, in: &world)
        world.reviveSite()
        var count = 0
        // Without time that passes, nothing is synced after the presses.
        while !world.isQuiet, count < steps {
            for lane in world.network.busyLanes { world.carry(lane) }
            world.stepSite()
            world.stepEngine()
            count += 1
        }
        world.cutPowerOfSite(delivering: 0)
        Self.offlineStart(2, in: &world)
        #expect(Self.problems(&world) == [])
        #expect(world.account.neverActed == 0)
    }
}

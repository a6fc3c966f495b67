import ButtonModel
import Flic
import Glibc
import JSON
import Rules
import Simulator

@testable import Hub

/// Runs a story in a house of five buttons that were paired before it begins.
struct StoryRun {
    /// Longer than every detection, wait and retry: a wedged adapter is found after two minutes, and then the transport
    /// waits up to half a minute.
    static let recovery = Duration.seconds(200)
    /// After a wrong signature, a button is not connected for half a minute.
    private static let afterShocks = Duration.seconds(45)
    /// The time from a press to its last effect.
    private static let aftermath = Duration.seconds(12)

    let story: Story
    private(set) var problems: [Witness.Problem] = []
    private(set) var house: Household
    private var witness = Witness()

    /// - Parameter forbiddenTopic: a further topic that must not be published, for a test of this type.
    init(_ story: Story, recordedAt seam: RecordingSeam? = nil, forbiddenTopic: String? = nil) {
        self.story = story
        witness.forbiddenTopic = forbiddenTopic
        house =
            (seam == nil ? (story.mixture == nil ? Self.paired : Self.mixed)[House(story)] : nil)
            ?? Self.house(House(story), recordedAt: seam)
        live()
        problems = witness.problems
    }

    /// What a house has before its story begins.
    private struct House: Hashable {
        var links: Int
        var kinds: [HouseRadio]

        init(links: Int, kinds: [HouseRadio]) {
            self.links = links
            self.kinds = kinds
        }

        init(_ story: Story) { self.init(links: story.links, kinds: story.kinds) }
    }

    private static let paired = houses(
        Story.linkCounts, (1...Story.maximumRadios).map { Array(repeating: .adapter, count: $0) })
    private static let mixed = houses(Story.mixedLinkCounts, Story.mixtures)

    private static func houses(_ linkCounts: [Int], _ kinds: [[HouseRadio]]) -> [House: Household] {
        Dictionary(
            uniqueKeysWithValues: linkCounts.flatMap { links in
                kinds.map { (House(links: links, kinds: $0), house(House(links: links, kinds: $0), recordedAt: nil)) }
            })
    }

    private static func house(_ house: House, recordedAt seam: RecordingSeam?) -> Household {
        guard let rules = StoryRules.usual.rules else { return Household() }
        var paired = Household(
            Story.buttons, rules: rules, hasMetrics: true,
            controller: .init(
                address: BluetoothAddress(rawValue: 0x0000_5E00_5301), aclBufferCount: 4, maximumLinks: house.links),
            kinds: house.kinds, recordedAt: seam, isWitnessed: true, pausing: .microseconds(400))
        // bluetoothd and a proxy with few links take some seconds to end one of them.
        paired.risesAfterStop = true
        paired.pairAll(within: .seconds(house.kinds.allSatisfy { $0 == .adapter } ? 20 : 90))
        return paired
    }

    private mutating func live() {
        witness.see(&house)
        let start = house.now
        for happening in story.happenings {
            let pause = happening.at - (house.now - start)
            if pause > .zero { house.wait(pause) }
            strike(happening.misfortune)
            witness.see(&house)
        }
        mend()
        house.wait(Self.recovery)
        witness.see(&house)
        // A button that another program has removed from BlueZ is found again while a button is searched for.
        if story.kinds.contains(.bluez) { house.ask(#"{"request":"permit_join","data":{"time":40}}"#) }
        // These presses trigger the remaining faults, and deliver stored events.
        for button in Story.buttons { house.press(button.name, .click) }
        house.wait(Self.afterShocks)
        witness.see(&house)
        let silent = Story.buttons.filter(isLeftSilent)
        if !silent.isEmpty {
            for button in silent { house.press(button.name, .click) }
            house.wait(Self.afterShocks)
            witness.see(&house)
        }
        for button in Story.buttons { expectPressed(button) }
        expectSmallPressed()
        expectTurned()
        expectHeard()
        witness.expectNothingLeft(house)
        house.ask(#"{"request":"status"}"#)
        if house.data["ok"] != true { witness.report("P6", "a fault remains: \(house.data)") }
        expectSecrecy()
    }

    /// The second wrong signature on one link within a minute ends the link. If the last press caused it, the button is silent until
    /// its next press, and keeps the press until then.
    private func isLeftSilent(_ button: SimulatedButtonDescription) -> Bool {
        let wrongSignatures = story.happenings.count { $0.misfortune == .button(button.name, .wrongSignature) }
        let status = house.retained["tryck/\(ButtonID(button.wantedAddress))"] ?? ""
        return wrongSignatures > 1 && !status.contains(#""state":"ready""#)
    }

    private mutating func strike(_ misfortune: Misfortune) {
        let fingerprint = house.hub.rules.set.fingerprint
        misfortune.strike(&house)
        switch misfortune {
        case .reload(.bad), .reload(.failing):
            if !house.loadsAreSlow, house.hub.rules.set.fingerprint != fingerprint {
                witness.report("P4", "bad rules have replaced good ones")
            }
        case .farEnd(_, .bluetoothd(.stall(let duration))), .farEnd(_, .proxy(.cut(let duration))):
            witness.stalls.append(house.now..<house.now + duration)
        default: break
        }
    }

    private mutating func mend() {
        for button in Story.buttons { house.press(button.name, .up) }
        house.move(.press(button: Story.sofa.name, .up, part: .small))
        house.mend()
        house.ask(#"{"request":"button/options","data":{"id":"80e4da000001","options":{"trigger_mode":"auto"}}}"#)
    }

    /// Presses the button, and expects exactly one message.
    private mutating func expectPressed(_ button: SimulatedButtonDescription) {
        house.forgetWhatHappened()
        house.press(button.name, .click)
        house.wait(Self.aftermath)
        witness.see(&house)
        let messages = house.payloads(on: "tryck/\(ButtonID(button.wantedAddress))/action")
        if messages != ["click"] { witness.report("P6", "in the end a click of \(button.name) was \(messages)") }
    }

    private mutating func expectSmallPressed() {
        house.forgetWhatHappened()
        house.move(.swipe(button: Story.sofa.name, .left, part: .small))
        house.wait(Self.aftermath)
        witness.see(&house)
        let messages = house.payloads(on: "tryck/\(ButtonID(Story.sofa.wantedAddress))/small/action")
        if messages != ["swipe_left"] { witness.report("P6", "in the end a swipe of sofa was \(messages)") }
    }

    /// Expects that the dial's position of the hub and of the button agree.
    private mutating func expectTurned() {
        let desk = Story.desk.name
        house.forgetWhatHappened()
        house.ask(#"{"request":"button/options","data":{"id":"desk","options":{"positions":{"slot_1":50}}}}"#)
        house.wait(Self.aftermath)
        house.move(.turn(button: desk, hundredths: 7))
        house.wait(Self.aftermath)
        witness.see(&house)
        let stored = house.store.state.buttons.first { $0.id == ButtonID(Story.desk.wantedAddress) }?.dials ?? [:]
        let shown = house.world.dialSnapshot(of: desk)
        for (dial, units) in shown?.positions ?? [:] where units != stored[dial] ?? 0 {
            witness.report("P6", "in the end desk has \(units) for \(dial.name), and \(stored[dial] ?? 0) is stored")
        }
        let turned = house.payloads(on: "did/desk_turn")
        let expected = shown?.slot == 1 ? ["7 57"] : nil
        if turned.count != 1 || expected.map({ $0 != turned }) ?? false {
            witness.report("P6", "in the end a turn of desk was \(turned)")
        }
    }

    /// Expects that messages of other clients are received.
    private mutating func expectHeard() {
        house.forgetWhatHappened()
        house.say("2", on: "home/guests")
        house.press("porch", .hold)
        house.wait(Self.aftermath)
        witness.see(&house)
        let messages = house.payloads(on: "did/porch_hold/guests")
        if messages != ["2"] { witness.report("P6", "in the end messages of another client arrived as \(messages)") }
    }

    private mutating func expectSecrecy() {
        for line in house.recording { witness.secrecy.see(recorded: line.encoded()) }
        let keys = house.store.state.buttons.compactMap(\.pairing?.key.octets)
        for finding in witness.secrecy.findings(keys: keys, secrets: StoryRules.secrets) {
            witness.report("P8", "\(finding) left the house")
        }
    }

    // MARK: When a promise was broken

    /// The shortest story that still breaks this promise.
    func shortened(for promise: String) -> StoryRun {
        var shortest = self
        var place = story.happenings.count - 1
        while place >= 0 {
            let shorter = StoryRun(shortest.story.without(place), forbiddenTopic: witness.forbiddenTopic)
            if shorter.problems.first?.promise == promise { shortest = shorter }
            place -= 1
        }
        return shortest
    }

    /// Runs the story once more with a recording, and returns a sentence that says where it is.
    func saveRecording() -> String {
        StoryRun(story, recordedAt: .reports).house.saveRecording("story-\(story.seed)")
    }
}

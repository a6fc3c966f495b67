import ButtonModel
import Gestures
import TestSupport
import Testing

@Suite("Chords")
struct ChordTests {
    private static let click = Vocabulary(patterns: [.click])
    private static let pair = Chord(members: [.kitchen, .hall])
    private static let held = Chord(members: [.kitchen, .hall], event: .hold)
    private static let trio = Chord(members: [.kitchen, .hall, .sofa])

    /// Reads `kitchen 0-80, hall 20-100` in milliseconds. Returns what is reported, and when.
    private func told(
        _ script: String, _ vocabulary: Vocabulary = click, chords: [Chord], isQueued: Bool = false
    ) -> [String] {
        let names: [Substring: ButtonID] = ["kitchen": .kitchen, "hall": .hall, "sofa": .sofa]
        var events: [(at: Int, ButtonEvent)] = []
        for line in script.split(separator: ",") {
            let words = line.split(separator: " ", maxSplits: 1)
            let button = Button(id: names[words[0]] ?? .sofa)
            events += button.events(of: Room.presses(String(words[1]))).map { (button.ticks(of: $0), $0) }
        }
        var room = Room(vocabulary, chords: chords)
        for (at, var event) in events.sorted(by: { $0.at < $1.at }) {
            room.wait(until: Instant(ticks: at))
            event.wasQueued = isQueued
            room.hear(event)
        }
        room.rest()
        return room.timed
    }

    @Test("a chord fires when its last member goes down, and uses the presses of all members")
    func fires() {
        #expect(told("kitchen 0-400, hall 200-380", chords: [Self.pair]) == ["chord 0@200"])
        #expect(told("kitchen 0-2000, hall 200-1800", Vocabulary(), chords: [Self.pair]) == ["chord 0@200"])
    }

    @Test("a press after a chord has fired is a click of its own")
    func afterwards() {
        #expect(
            told("kitchen 0-400 600-700, hall 200-380", chords: [Self.pair]) == ["chord 0@200", "click@700"])
    }

    @Test("members that are pressed too far apart make gestures of their own")
    func tooFarApart() {
        #expect(told("kitchen 0-900, hall 301-800", chords: [Self.pair]) == ["click@300", "click@601"])
        #expect(told("kitchen 0-900, hall 300-800", chords: [Self.pair]) == ["chord 0@300"])
    }

    @Test("a member that is released early is a click at once and forms no chord")
    func letGo() {
        #expect(told("kitchen 0-80, hall 100-180", chords: [Self.pair]) == ["click@80", "click@180"])
    }

    @Test("a click waits for a chord only on a button that is in a chord")
    func others() {
        #expect(told("sofa 0-80", chords: [Self.pair]) == ["click@0"])
        #expect(told("kitchen 0-800", chords: [Self.pair]) == ["click@300"])
    }

    @Test("a hold waits no longer than a chord can still form")
    func heldBackHold() {
        let quick = Vocabulary(patterns: [.click], holdStages: [.milliseconds(200), .milliseconds(600)])
        #expect(
            told("kitchen 0-800", quick, chords: [Self.pair])
                == ["hold 200@300", "hold 600@600", "hold_release@800"])
        #expect(told("kitchen 0-250", quick, chords: [Self.pair]) == ["hold 200@250", "hold_release@250"])
    }

    @Test("a train that a chord interrupts is reported without the press that the chord uses")
    func cutTrain() {
        let double = Vocabulary(patterns: [.click, .doubleClick])
        #expect(
            told("kitchen 0-80 200-600, hall 300-580", double, chords: [Self.pair]) == ["click@300", "chord 0@300"])
    }

    @Test("a chord's hold fires when all members have stayed down since the last one went down")
    func hold() {
        #expect(told("kitchen 0-1500, hall 200-1400", Vocabulary(), chords: [Self.held]) == ["chord 0@1200"])
    }

    @Test("a chord that is not held long enough gives its presses back to their buttons")
    func failedHold() {
        #expect(told("kitchen 0-500, hall 200-450", chords: [Self.held]) == ["click@450", "click@450"])
        #expect(
            told("kitchen 0-2000, hall 200-900", Vocabulary(), chords: [Self.held])
                == ["click@900", "hold@1000", "hold_release@2000"])
    }

    @Test("a chord and its hold use the same presses")
    func both() {
        #expect(
            told("kitchen 0-1500, hall 200-1400", chords: [Self.pair, Self.held]) == ["chord 0@200", "chord 1@1200"])
        #expect(told("kitchen 0-500, hall 200-1400", chords: [Self.held, Self.pair]) == ["chord 1@200"])
    }

    @Test("if one press completes several chords, the one with the most members forms")
    func largest() {
        let chords = [Chord(members: [.hall, .sofa], within: .milliseconds(300)), Self.trio]
        #expect(told("kitchen 0-500, hall 50-500, sofa 100-500", chords: chords) == ["chord 1@100"])
        #expect(told("hall 50-500, sofa 100-500", chords: chords) == ["chord 0@100"])
    }

    @Test("stored presses never form a chord")
    func queued() {
        #expect(told("kitchen 0-400, hall 200-380", chords: [Self.pair], isQueued: true) == ["click@0", "click@200"])
    }

    @Test("a chord has the button, time and press number of the member that came last")
    func last() throws {
        var room = Room(Self.click, chords: [Self.pair])
        room.hear(Button(id: .hall).event(.down, at: 0))
        room.now = room.now + .milliseconds(100)
        room.hear(Button(id: .kitchen).event(.down, at: 3277))
        let chord = try #require(room.gestures.first)
        #expect(chord.button == .kitchen)
        #expect(chord.at == .start + .milliseconds(100))
        #expect(chord.presses == 1...1)
        #expect(room.told.map(\.word) == ["down", "down", "chord 0"])
    }

    @Test(
        "a chord's hold fails when a member loses its link, and the other member waits no longer than a chord can form")
    func linkLost() {
        var room = Room(Self.click, chords: [Self.held])
        room.hear(Button(id: .hall).event(.down, at: 0))
        room.hear(Button(id: .kitchen).event(.down, at: 0))
        room.now = room.now + .milliseconds(100)
        room.handle(.linkLost(.hall))
        room.rest()
        #expect(room.timed == ["click@100", "click@300"])
    }

    @Test("when a chord fails, abandoned presses that waited for it are in no gesture, and the others are")
    func abandoned() {
        for abandoned in [[ButtonID.hall], [.hall, .kitchen], [.kitchen, .hall]] {
            var room = Room(Self.click, chords: [Self.held])
            room.hear(Button(id: .hall).event(.down, at: 0))
            room.hear(Button(id: .kitchen).event(.down, at: 0))
            room.now = room.now + .milliseconds(400)
            room.handle(.abandoned(abandoned))
            #expect(room.recogniser.deadline == nil)
            room.rest()
            #expect(room.gestures.map(\.word) == (abandoned.count == 1 ? ["click"] : []))
            #expect(room.gestures.map(\.button) == (abandoned.count == 1 ? [.kitchen] : []))
        }
    }

    @Test("an abandoned press that is in no chord is in no gesture, and time decides nothing about it")
    func abandonedAlone() {
        var room = Room(Vocabulary(patterns: [.click, .doubleClick]), usesButtonVerdicts: false)
        for event in Button().events(of: Room.presses("0-50")).prefix(2) { room.hear(event) }
        room.handle(.abandoned([.kitchen]))
        #expect(room.recogniser.deadline == nil)
        room.rest()
        #expect(room.gestures.isEmpty)
    }

    @Test("the partners of a button are the others of its chord while all are down")
    func partners() {
        var room = Room(Self.click, chords: [Self.pair])
        room.hear(Button(id: .hall).event(.down, at: 0))
        #expect(room.recogniser.partners(of: .hall) == [])
        room.hear(Button(id: .kitchen).event(.down, at: 0))
        #expect(room.recogniser.partners(of: .hall) == [.kitchen])
        #expect(room.recogniser.partners(of: .kitchen) == [.hall])
        room.hear(Button(id: .kitchen).event(.up(.open), at: 3000))
        #expect(room.recogniser.partners(of: .hall) == [])
    }

    @Test("presses that wait for a chord are reported when a reload removes the chord")
    func reload() {
        var room = Room(Self.click, chords: [Self.held])
        room.hear(Button(id: .hall).event(.down, at: 0))
        room.hear(Button(id: .kitchen).event(.down, at: 0))
        room.now = room.now + .milliseconds(100)
        room.recogniser.configure([:], others: Self.click, chords: [], at: room.now)
        room.rest()
        #expect(room.timed == ["click@100", "click@100"])
    }

    @Test("each press of a member is in exactly one chord or gesture", arguments: 0..<500 as Range<UInt64>)
    func nothingIsLost(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let chords = [Self.pair, Self.held, Self.trio, Chord(members: [.hall, .sofa], within: .milliseconds(80))]
            .filter { _ in Bool.random(using: &generator) }
        var room = Room(Vocabulary(), chords: chords)
        var events: [(at: Int, ButtonEvent)] = []
        for id in [ButtonID.kitchen, .hall, .sofa] {
            let button = Button(id: id)
            let presses = generator.presses(upTo: 10, around: [3277, 8000, 32_768])
            events += button.events(of: presses).map { (button.ticks(of: $0), $0) }
        }
        for (at, event) in events.sorted(by: { $0.at < $1.at }) {
            room.wait(until: Instant(ticks: at))
            room.hear(event)
        }
        room.rest()
        var uses: [ButtonID: [UInt64: Int]] = [:]
        var owed: [ButtonID: Int] = [:]
        for told in room.told {
            switch told.kind {
            case .up, .holdRelease, .swipe, .rotation: break
            case .down: uses[told.button, default: [:]][told.presses?.lowerBound ?? 0] = 0
            case .pattern, .hold:
                for press in told.presses ?? 0...0 { uses[told.button, default: [:]][press, default: 0] += 1 }
            case .chord(let place):
                // A chord and its hold use the same presses, so the second of them is not counted again.
                let isRepeated =
                    chords[place].event == .hold
                    && chords.contains { $0.event == .down && Set($0.members) == Set(chords[place].members) }
                if !isRepeated { for member in chords[place].members { owed[member, default: 0] += 1 } }
            }
        }
        for (button, presses) in uses {
            #expect(presses.values.allSatisfy { $0 <= 1 })
            #expect(presses.values.filter { $0 == 0 }.count == owed[button, default: 0])
        }
    }
}

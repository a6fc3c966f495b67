import ButtonModel
import Hub
import JSON
import Simulator
import TestSupport
import Testing

@Suite("Messages about presses, and crashes")
struct HeardScenarioTests {
    private static let topics = ["action", "event", "raw"].map { "tryck/80e4da000001/\($0)" }

    private static func house(hasBroker: Bool = true, seed: UInt64 = 1) -> Household {
        var house = Household([Household.kitchen], seed: seed, hasBroker: hasBroker)
        house.pairAll()
        house.forgetWhatHappened()
        return house
    }

    /// The first and last number of each report.
    private static func reports(_ house: Household) -> [ClosedRange<Int64>] {
        house.payloads(on: "tryck/bridge/event").compactMap { payload in
            guard let event = try? JSONValue(parsing: payload), event["type"] == "interrupted",
                let data = event["data"], data["rule"] == .null, data["run"] == .null,
                data["button"] == "80e4da000001", let first = data["first_seq"]?.integerValue,
                let last = data["last_seq"]?.integerValue
            else { return nil }
            return first...last
        }
    }

    private static func messages(_ house: Household) -> [String] { topics.flatMap { house.payloads(on: $0) } }

    /// Clicks, and waits until the broker has the message.
    private static func click(_ house: inout Household) {
        house.press("kitchen", .click)
        while house.payloads(on: "tryck/80e4da000001/event").isEmpty { house.wait(.milliseconds(1)) }
    }

    /// The recorded numbers: the last message, and the last message up to which all are acknowledged.
    private static func kept(_ house: Household) -> [Int64] {
        house.store.state.buttons.first.map { [$0.sequence.value, $0.publishWatermark] } ?? []
    }

    @Test("messages that were not acknowledged before a crash are reported once, and not sent again")
    func beforeAcknowledgement() {
        var house = Self.house()
        house.brokerIsSilent = true
        house.press("kitchen", .click)
        house.wait(.seconds(2))
        #expect(Self.messages(house).count == 4)
        #expect(Self.kept(house) == [3, 0])
        house.brokerIsSilent = false
        house.crash()
        #expect(Self.reports(house) == [1...3])
        let line =
            "kitchen: 3 messages (seq 1 to 3) may not have reached the broker before a crash, a power cut or a restart; "
            + "not repeated"
        #expect(house.logged.filter { $0.contains("may not have reached") } == [line])
        #expect(Self.kept(house) == [3, 3])
        house.crash()
        house.wait(.seconds(5))
        #expect(Self.reports(house) == [1...3])
        #expect(Self.messages(house).count == 4)
    }

    @Test("messages that were acknowledged more than a second before a crash are not reported")
    func afterAcknowledgement() {
        for delay in [Duration.zero, .seconds(1)] {
            var house = Self.house()
            Self.click(&house)
            // The other messages were acknowledged earlier, and were recorded together with the click.
            #expect(Self.kept(house) == [3, 2])
            house.wait(delay)
            house.crash()
            house.wait(.seconds(5))
            #expect(Self.reports(house) == (delay == .zero ? [3...3] : []))
            #expect(house.logged.contains { $0.contains("1 message (seq 3) may") } == (delay == .zero))
            #expect(Self.messages(house).count == 4)
        }
    }

    @Test("messages that waited for the broker at a crash are reported when the broker is connected again")
    func waiting() {
        var house = Self.house()
        house.loseBroker()
        house.press("kitchen", .click)
        house.wait(.seconds(1))
        house.crash()
        house.wait(.seconds(1))
        #expect(Self.reports(house) == [])
        house.bringBrokerBack()
        #expect(Self.reports(house) == [1...3])
        #expect(Self.messages(house) == [])
    }

    @Test("messages that were given up because the broker was disconnected for too long are not reported")
    func givenUp() {
        var house = Self.house()
        house.loseBroker()
        house.press("kitchen", .click)
        house.wait(.seconds(10))
        #expect(Self.kept(house) == [3, 3])
        house.crash()
        house.bringBrokerBack()
        house.wait(.seconds(5))
        #expect(Self.reports(house) == [])
        #expect(Self.messages(house) == [])
    }

    @Test("after a clean stop, only messages that still waited for the broker are reported")
    func cleanStop() {
        for isUp in [true, false] {
            var house = Self.house()
            if isUp {
                Self.click(&house)
            } else {
                house.loseBroker()
                house.press("kitchen", .click)
                house.wait(.seconds(1))
            }
            // The second stop does not wait for the buttons.
            for _ in 0..<2 { house.tell(.stop) }
            #expect(house.isFinished)
            #expect(Self.kept(house) == (isUp ? [3, 3] : [3, 0]))
            house.brokerIsUp = true
            house.crash()
            house.wait(.seconds(5))
            #expect(Self.reports(house) == (isUp ? [] : [1...3]))
        }
    }

    @Test("an acknowledgement during shutdown is recorded, and a lost connection is not")
    func acknowledgedAtTheEnd() {
        for isAcknowledged in [true, false] {
            var house = Self.house()
            house.brokerIsSilent = true
            house.press("kitchen", .click)
            house.wait(.seconds(2))
            for _ in 0..<2 { house.tell(.stop) }
            #expect(house.isFinished)
            if isAcknowledged { house.acknowledge() } else { house.loseBroker() }
            #expect(Self.kept(house) == (isAcknowledged ? [3, 3] : [3, 0]))
        }
    }

    @Test("a report is repeated after crashes until the broker has acknowledged it, and includes later messages")
    func reportSurvives() {
        var house = Self.house()
        house.brokerIsSilent = true
        house.press("kitchen", .click)
        house.wait(.seconds(2))
        house.brokerIsUp = false
        for _ in 0..<3 {
            house.crash()
            house.wait(.milliseconds(50))
        }
        // The broker receives the report, and the process dies before the acknowledgement.
        house.bringBrokerBack()
        house.crash()
        house.wait(.seconds(20))
        house.press("kitchen", .click)
        house.wait(.seconds(2))
        #expect(Self.kept(house) == [6, 0])
        house.brokerIsSilent = false
        house.crash()
        #expect(Self.kept(house) == [6, 6])
        house.crash()
        house.wait(.seconds(5))
        #expect(Self.reports(house) == [1...3, 1...3, 1...6])
    }

    @Test("without a broker nothing is reported or recorded")
    func noBroker() {
        var house = Self.house(hasBroker: false)
        house.press("kitchen", .click)
        house.wait(.milliseconds(700))
        let records = house.journal.count { $0 == "record" }
        house.wait(.seconds(5))
        #expect(house.journal.count { $0 == "record" } == records)
        #expect(Self.kept(house) == [3, 3])
        house.crash()
        house.wait(.seconds(5))
        #expect(!house.logged.contains { $0.contains("may not have reached") })
        #expect(Self.kept(house) == [3, 3])
    }

    @Test("after all messages are recorded as acknowledged, nothing is recorded until the next press")
    func quiet() {
        var house = Self.house()
        house.press("kitchen", .click)
        house.wait(.seconds(3))
        #expect(Self.kept(house) == [3, 3])
        house.forgetWhatHappened()
        house.wait(.seconds(600))
        #expect(!house.journal.contains("record"))
    }

    @Test("acknowledgements during a full disk are recorded when there is space again")
    func fullDisk() {
        var house = Self.house()
        Self.click(&house)
        house.diskIsFull = true
        house.wait(.milliseconds(1100))
        #expect(house.logged.contains { $0.hasPrefix("no space left") })
        #expect(Self.kept(house) != [3, 3])
        house.diskIsFull = false
        house.wait(.seconds(2))
        #expect(house.logged.contains("what could not be recorded is on the disk now"))
        #expect(Self.kept(house) == [3, 3])
    }

    @Test(
        "after any crashes, each number is published or reported, and in the end none is left to report",
        arguments: 0..<40 as Range<UInt64>)
    func anyOrder(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var house = Self.house(seed: seed)
        for _ in 0..<12 {
            if Bool.random(using: &random) { house.press("kitchen", .click) }
            house.wait(.milliseconds(Int.random(in: 0...1500, using: &random)))
            switch Int.random(in: 0..<6, using: &random) {
            case 0: house.brokerIsSilent.toggle()
            // A press waits for three seconds.
            case 1 where house.brokerIsUp:
                house.loseBroker()
                house.press("kitchen", .click)
                house.wait(.milliseconds(Int.random(in: 0...900, using: &random)))
            case 1, 2: if !house.brokerIsUp { house.bringBrokerBack() }
            case 3, 4:
                house.crash()
                if Bool.random(using: &random) { house.wait(.seconds(15)) }
            default: break
            }
            if !house.brokerIsUp, Bool.random(using: &random) { house.crash() }
            if !house.brokerIsUp { house.bringBrokerBack() }
        }
        house.brokerIsSilent = false
        for _ in 0..<2 {
            house.crash()
            house.wait(.seconds(40))
        }
        let numbers = (Self.topics.dropFirst() + ["tryck/bridge/event"]).flatMap { house.payloads(on: $0) }
            .compactMap { payload -> Int64? in
                guard let message = try? JSONValue(parsing: payload) else { return nil }
                // A `stale_event` has its number inside `data`.
                return (message["seq"] ?? message["data"]?["seq"])?.integerValue
            }
        let pressed = Self.topics.dropFirst().flatMap { house.payloads(on: $0) }
        #expect(Set(pressed).count == pressed.count)
        let reports = Self.reports(house)
        let last = house.store.state.buttons.first?.sequence.value ?? 0
        for number in 1...max(1, last) {
            #expect(numbers.contains(number) || reports.contains { $0.contains(number) }, "\(number) of \(last)")
        }
        #expect(Self.kept(house) == [last, last])
        house.crash()
        house.wait(.seconds(40))
        #expect(Self.reports(house) == reports)
    }
}

import ButtonModel
import Hub
import JSON
import Simulator
import Testing

/// A stop in order ends the links to the buttons first, which takes up to three seconds. A press that arrives meanwhile is
/// handled like any other, and what it has begun is not lost.
@Suite("Presses while the daemon stops in order")
struct StopScenarioTests {
    private static let rules: HouseRules = """
        version: 1
        buttons: {kitchen: {address: "80:E4:DA:00:00:01", queued: accept}}
        rules:
          - {id: light, triggers: {button: kitchen, event: click}, actions: {publish: {topic: lamp, payload: bright}}}
          - {id: dim, triggers: {button: kitchen, event: hold}, actions: {publish: {topic: lamp, payload: dim}}}
          - {id: stop, triggers: {button: kitchen, event: hold_release}, actions: {publish: {topic: lamp, payload: stop}}}
          - id: slow
            triggers: {button: kitchen, event: double_click}
            actions: [{publish: {topic: lamp, payload: slow}}, {delay: 10s}, {publish: {topic: lamp, payload: late}}]
          - {id: gone, triggers: {button: kitchen, event: disconnected}, actions: {publish: {topic: lamp, payload: gone}}}
        """

    private static func house() -> Household {
        var house = Household([Household.kitchen], rules: rules)
        house.pairAll()
        house.wait(.seconds(60))
        house.forgetWhatHappened()
        return house
    }

    /// Waits for the end of the process, and starts the next one.
    private static func beginAgain(_ house: inout Household) {
        house.wait(.seconds(4))
        #expect(house.isFinished)
        house.crash()
        house.wait(.seconds(30))
        #expect(house.violations == [])
    }

    @Test(
        "a click around the beginning of the stop is acted on once, with room on the disk and without",
        arguments: [-150, -100, -60, -30, 0, 30], [false, true])
    func click(milliseconds: Int, isDiskFull: Bool) {
        var house = Self.house()
        house.diskIsFull = isDiskFull
        if milliseconds < 0 {
            house.press("kitchen", .click)
            house.wait(.milliseconds(-milliseconds))
        }
        house.tell(.stop)
        #expect(!house.isFinished)
        if milliseconds >= 0 {
            house.wait(.milliseconds(milliseconds))
            house.press("kitchen", .click)
        }
        house.wait(.seconds(4))
        house.diskIsFull = false
        Self.beginAgain(&house)
        #expect(house.payloads(on: "lamp") == ["bright"])
        #expect(house.payloads(on: "tryck/80e4da000001/action") == ["click"])
    }

    @Test("a click of which the release comes during the stop is acted on once")
    func release() {
        var house = Self.house()
        house.press("kitchen", .down)
        house.wait(.milliseconds(200))
        house.tell(.stop)
        house.press("kitchen", .up)
        Self.beginAgain(&house)
        #expect(house.payloads(on: "lamp") == ["bright"])
    }

    @Test(
        "a hold that was told ends once, whether its release comes during the stop or afterwards",
        arguments: [true, false])
    func hold(isReleasedMeanwhile: Bool) {
        var house = Self.house()
        house.press("kitchen", .down)
        house.wait(.milliseconds(1500))
        #expect(house.payloads(on: "lamp") == ["dim"])
        house.tell(.stop)
        if isReleasedMeanwhile { house.press("kitchen", .up) }
        house.wait(.seconds(4))
        if !isReleasedMeanwhile { house.press("kitchen", .up) }
        Self.beginAgain(&house)
        #expect(house.payloads(on: "lamp") == ["dim", "stop"])
    }

    @Test("a run that the stop cuts off is reported once by the next process")
    func interrupted() {
        var house = Self.house()
        house.press("kitchen", .doubleClick)
        house.wait(.seconds(1))
        #expect(house.payloads(on: "lamp") == ["slow"])
        house.tell(.stop)
        Self.beginAgain(&house)
        #expect(house.interruptedRuns.count == 1)
        house.crash()
        house.wait(.seconds(30))
        #expect(house.interruptedRuns.count == 1)
        #expect(house.payloads(on: "lamp") == ["slow"])
    }

    @Test("a rule on the loss of the link does not run because the daemon ends the link")
    func disconnected() {
        var house = Self.house()
        house.tell(.stop)
        Self.beginAgain(&house)
        #expect(house.payloads(on: "lamp") == [])
    }
}

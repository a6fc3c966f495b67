import ButtonModel
import Hub
import JSON
import Simulator
import Testing

@Suite("When a button was last seen")
struct LastSeenScenarioTests {
    private static func house() -> Household {
        var house = Household([Household.kitchen])
        house.pairAll()
        return house
    }

    private static func lastSeen(_ house: Household) -> String? {
        let status = house.retained["tryck/80e4da000001"].flatMap { try? JSONValue(parsing: $0) }
        return status?["last_seen"]?.stringValue
    }

    @Test("last_seen of a lost button is when its link ended, also after restarts")
    func restarts() throws {
        var house = Self.house()
        house.press("kitchen", .click)
        house.wait(.seconds(3))
        house.reach("kitchen", false)
        house.wait(.seconds(20))
        let before = try #require(Self.lastSeen(house))
        for isPowerCut in [false, true] {
            if isPowerCut { house.cutPower(for: .seconds(60)) } else { house.crash(for: .seconds(60)) }
            house.wait(.seconds(10))
            let after = try #require(Self.lastSeen(house))
            // The start after the crash has synced the record of the link's end, so the power cut leaves it.
            #expect(after == before)
        }
    }

    @Test("a press updates last_seen without a record of its own")
    func press() {
        var house = Self.house()
        house.forgetWhatHappened()
        house.press("kitchen", .down)
        house.wait(.milliseconds(300))
        #expect(house.journal.count { $0 == "record" } == 1)
        house.crash()
        #expect(Self.lastSeen(house) != nil)
    }

    @Test("last_seen of a connected button that is not pressed is when its link ended")
    func connectedOnly() throws {
        var house = Self.house()
        house.wait(.seconds(600))
        house.forgetWhatHappened()
        house.wait(.seconds(3000))
        #expect(!house.journal.contains("record"))
        let atPairing = try #require(Self.lastSeen(house))
        house.reach("kitchen", false)
        house.wait(.seconds(20))
        let atEnd = try #require(Self.lastSeen(house))
        #expect(atEnd > atPairing)
        house.crash(for: .seconds(60))
        house.wait(.seconds(5))
        #expect(Self.lastSeen(house) == atEnd)
    }

    @Test("a clean shutdown records last_seen of connected buttons")
    func cleanEnd() throws {
        var house = Self.house()
        house.wait(.seconds(100))
        house.tell(.stop)
        house.wait(.seconds(10))
        #expect(house.isFinished)
        house.reach("kitchen", false)
        house.crash(for: .seconds(5))
        house.wait(.seconds(5))
        let seen = try #require(Self.lastSeen(house))
        // The button was paired some seconds after the start, and the end is a hundred seconds later.
        #expect(seen > "2026-11-18T11:08:00")
    }
}

import ButtonModel
import Buttons
import Radios
import Simulator
import TestSupport
import Testing

/// The reports about connections that the metrics count.
@Suite("Connecting")
struct ConnectingTests {
    @Test("each connection is reported once, with the time until the notifications are on")
    func made() {
        var room = KnownButtonTests.paired()
        func times() -> [Duration] {
            room.said.compactMap { effect in
                guard case .connectionMade(KnownButtonTests.id, .first, let time) = effect else { return nil }
                return time
            }
        }
        room.forget()
        room.reach("hall", false)
        room.wait(.seconds(30))
        #expect(times().isEmpty)
        room.reach("hall", true)
        room.press("hall", .click)
        room.wait(.seconds(20))
        #expect(times().count == 1)
        #expect(times().allSatisfy { $0 > .zero && $0 < .seconds(1) })
        #expect(!room.said.contains { if case .connectFailed = $0 { true } else { false } })
    }

    @Test("a link that ends before the notifications are on is a failure, and one that the host ends is not")
    func lost() {
        var room = KnownButtonTests.paired()
        room.leaveAndReturn("hall")
        for _ in 0..<5000 where room.manager.state(of: KnownButtonTests.id) != .connected {
            room.wait(.milliseconds(1))
        }
        room.reach("hall", false)
        room.wait(.seconds(30))
        #expect(room.said.count { $0 == .connectFailed(.first, .linkLost) } == 1)
        #expect(!room.said.contains { if case .connectionMade = $0 { true } else { false } })
        room.forget()
        room.reach("hall", true)
        room.press("hall", .click)
        for _ in 0..<5000 where room.manager.state(of: KnownButtonTests.id) != .connected {
            room.wait(.milliseconds(1))
        }
        room.tell(.request(KnownButtonTests.id, .setConnectionWanted(false)))
        room.wait(.seconds(30))
        #expect(!room.said.contains { if case .connectFailed = $0 { true } else { false } })
    }

    @Test("a notification that is lost on the way is counted, and the button repeats what was in it")
    func notification() {
        var room = KnownButtonTests.paired()
        room.forget()
        room.lostNotifications = 1
        room.press("hall", .click)
        room.wait(.seconds(20))
        #expect(room.lostNotifications == 0)
        #expect(room.said.count { $0 == .notificationLost(.first) } == 1)
        #expect(room.steps == [.down, .up(.open), .clickTimeout])
    }
}

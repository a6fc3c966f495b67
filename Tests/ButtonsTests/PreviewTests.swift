import ButtonModel
import Buttons
import Simulator
import TestSupport
import Testing

/// `ButtonManager.expectation` compares every preview of all tests with what handling the packet reports. Here, presses are
/// random, and most of them have to be previewed.
@Suite("The event of a packet, before the packet is handled")
struct PreviewTests {
    @Test("random presses of two buttons, which leave, return, and are acknowledged late", arguments: UInt64(0)..<12)
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var room = LinkShortageTests.house(Array(LinkShortageTests.buttons.prefix(2)))
        var downs: Set<String> = []
        for _ in 0..<200 {
            let button = LinkShortageTests.buttons[Int.random(in: 0..<2, using: &random)].name
            switch Int.random(in: 0..<20, using: &random) {
            case 0:
                room.reach(button, false)
                room.wait(.seconds(Int.random(in: 1...40, using: &random)))
                room.reach(button, true)
            case 1: room.storesAtOnce.toggle()
            case 2: room.lostNotifications = 1
            default:
                let isDown = downs.remove(button) == nil
                if isDown { downs.insert(button) }
                room.press(button, isDown ? .down : .up)
            }
            room.wait(.milliseconds(Int.random(in: 5...1500, using: &random)))
        }
        #expect(room.previewCount > 50, "\(room.previewCount) events were previewed")
    }
}

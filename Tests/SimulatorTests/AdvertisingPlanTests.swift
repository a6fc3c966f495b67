import ButtonModel
import Flic
import Testing

@testable import Simulator

@Suite("Advertising plan")
struct AdvertisingPlanTests {
    let start = Instant(sinceBoot: .seconds(100))

    @Test("a new button is public until it is paired")
    func publicUntilPaired() {
        var plan = AdvertisingPlan(isPublicUntilPaired: true)
        #expect(plan.mode(at: start) == .advertising(isPublic: true, interval: 160))
        #expect(plan.nextChange(after: start) == nil)
        plan.leavePublicMode()
        #expect(plan.mode(at: start) == .silent)
    }

    @Test("after a press a button advertises for a minute, at growing intervals")
    func press() {
        var plan = AdvertisingPlan(isPublicUntilPaired: false)
        plan.pressed(at: start)
        #expect(plan.mode(at: start) == .advertising(isPublic: false, interval: 32))
        #expect(plan.nextChange(after: start) == start + .seconds(10))
        #expect(plan.mode(at: start + .seconds(10)) == .advertising(isPublic: false, interval: 244))
        #expect(plan.mode(at: start + .seconds(30)) == .advertising(isPublic: false, interval: 1636))
        #expect(plan.nextChange(after: start + .seconds(30)) == start + .seconds(60))
        #expect(plan.mode(at: start + .seconds(60)) == .silent)
        #expect(plan.nextChange(after: start + .seconds(60)) == nil)
    }

    @Test("public mode after a hold ends after 30 s, whether the button is connected or not")
    func publicMode() {
        var plan = AdvertisingPlan(isPublicUntilPaired: false)
        plan.enterPublicMode(at: start)
        #expect(plan.mode(at: start) == .advertising(isPublic: true, interval: 160))
        plan.connected()
        #expect(plan.mode(at: start) == .silent)
        #expect(plan.nextChange(after: start) == start + .seconds(30))
        #expect(plan.isPublic(at: start + .milliseconds(29_999)))
        #expect(!plan.isPublic(at: start + .seconds(30)))
    }

    @Test(
        "after a lost link the button advertises with the host's settings, until a reboot; after a link that was ended it does not"
    )
    func lostLink() {
        var plan = AdvertisingPlan(isPublicUntilPaired: false)
        plan.connected()
        plan.disconnected(lookingFor: settings, advertisesAgain: false, at: start)
        #expect(plan.mode(at: start) == .advertising(isPublic: false, interval: 160))
        #expect(plan.nextChange(after: start) == start + .seconds(5))
        #expect(plan.mode(at: start + .seconds(5)) == .advertising(isPublic: false, interval: 1600))
        #expect(plan.nextChange(after: start + .seconds(5)) == start + .seconds(86_400))
        #expect(plan.mode(at: start + .seconds(86_400)) == .silent)
        plan.rebooted()
        #expect(plan.mode(at: start) == .silent)
        plan.connected()
        plan.disconnected(lookingFor: nil, advertisesAgain: false, at: start)
        #expect(plan.mode(at: start) == .silent)
        plan.disconnected(lookingFor: nil, advertisesAgain: true, at: start)
        #expect(plan.mode(at: start) == .advertising(isPublic: false, interval: 32))
    }

    @Test("advertising after a lost link ends at the timeout of the settings, also within the first five seconds")
    func shortLoss() {
        var plan = AdvertisingPlan(isPublicUntilPaired: false)
        let short = AdvertisingSettings(firstInterval: 160, laterInterval: 1600, timeoutSeconds: 2)
        plan.disconnected(lookingFor: short, advertisesAgain: false, at: start)
        #expect(plan.nextChange(after: start) == start + .seconds(2))
        #expect(plan.mode(at: start + .seconds(2)) == .silent)
    }

    @Test("with advertisesWhileConnected, a connected button advertises in public mode")
    func whileConnected() {
        var plan = AdvertisingPlan(isPublicUntilPaired: false, advertisesWhileConnected: true)
        plan.connected()
        #expect(plan.mode(at: start) == .silent)
        plan.enterPublicMode(at: start)
        #expect(plan.mode(at: start) == .advertising(isPublic: true, interval: 160))
    }

    private let settings = AdvertisingSettings(firstInterval: 160, laterInterval: 1600, timeoutSeconds: 86_400)

    @Test("of two reasons to advertise, the one with the shorter interval applies")
    func shortest() {
        var plan = AdvertisingPlan(isPublicUntilPaired: false)
        plan.disconnected(lookingFor: settings, advertisesAgain: false, at: start)
        plan.pressed(at: start + .seconds(5))
        #expect(plan.mode(at: start + .seconds(5)) == .advertising(isPublic: false, interval: 32))
        #expect(plan.mode(at: start + .seconds(40)) == .advertising(isPublic: false, interval: 1600))
        #expect(plan.mode(at: start + .seconds(65)) == .advertising(isPublic: false, interval: 1600))
    }
}

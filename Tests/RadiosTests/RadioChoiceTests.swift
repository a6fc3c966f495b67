import ButtonModel
import ESPHome
import Testing

@testable import Radios

@Suite("Which radio looks for which button")
struct RadioChoiceTests {
    private static let button = BluetoothAddress(rawValue: 0x80E4_DA00_0001)
    private static let (one, two, three) = (RadioID(rawValue: 0), RadioID(rawValue: 1), RadioID(rawValue: 2))
    private static let start = Instant(sinceBoot: .seconds(1000))

    /// A choice of ready radios that expects the button.
    ///
    /// - Parameter adapters: whether each radio connects by itself, as an adapter does and a proxy does not.
    private static func choice(_ adapters: Bool...) -> RadioChoice {
        var choice = RadioChoice(limits: adapters.map { _ in nil })
        for (place, connectsByItself) in adapters.enumerated() {
            choice.ready(
                RadioID(rawValue: UInt8(place)),
                RadioInfo(
                    address: BluetoothAddress(rawValue: UInt64(place)), acceptListSize: 8,
                    connectsByItself: connectsByItself), at: start)
        }
        choice.expect([button], at: start)
        _ = choice.takeEffects()
        return choice
    }

    /// The same, where the first radio is the button's home.
    private static func atHome(_ count: Int) -> RadioChoice {
        var choice = count == 2 ? choice(true, true) : choice(true, true, true)
        link(&choice, one, at: start)
        return choice
    }

    private static func after(_ milliseconds: Int64) -> Instant { start + .milliseconds(milliseconds) }

    private static func link(_ choice: inout RadioChoice, _ radio: RadioID, at now: Instant) {
        choice.connected(button, by: radio)
        choice.attached(button, to: radio)
        choice.disconnected(button, from: radio, wasAttached: true, isLost: true, at: now)
        _ = choice.takeEffects()
    }

    @Test("While the home of a button is full, another radio that has room and has heard the button looks for it")
    func fullHome() {
        var choice = Self.atHome(3)
        func searching(_ milliseconds: Int64) -> RadioID? {
            choice.radio(for: Self.button, at: Self.after(milliseconds))
        }
        choice.roomChanged(Self.one, isFull: true)
        #expect(choice.takeEffects() == [.assignmentChanged])
        #expect(searching(0) == Self.one)
        choice.heard(Self.button, by: Self.two, -93, isNew: false, at: Self.after(1000))
        choice.heard(Self.button, by: Self.three, -80, isNew: false, at: Self.after(1000))
        choice.timerFired(at: Self.after(20_000))
        choice.timerFired(at: Self.after(40_000))
        #expect(searching(40_000) == Self.three)
        // Of two radios that hear it well the better one is chosen.
        choice.heard(Self.button, by: Self.two, -30, isNew: false, at: Self.after(41_000))
        choice.timerFired(at: Self.after(60_000))
        choice.timerFired(at: Self.after(80_000))
        #expect(searching(80_000) == Self.two)
        choice.roomChanged(Self.two, isFull: true)
        #expect(searching(80_000) == Self.three)
        choice.limitChanged(Self.three, to: 0)
        #expect(searching(80_000) == Self.one)
        choice.limitChanged(Self.three, to: 1)
        #expect(searching(80_000) == Self.three)
        choice.lost(Self.three)
        #expect(searching(80_000) == Self.one)
        choice.roomChanged(Self.two, isFull: false)
        #expect(searching(80_000) == Self.two)
        _ = choice.takeEffects()
        // The button may be silent for days. What counts is which radios heard it when it was heard last.
        #expect(searching(86_400_000) == Self.two)
        choice.heard(Self.button, by: Self.one, -50, isNew: false, at: Self.after(41_000 + 15 * 60_000))
        choice.timerFired(at: Self.after(60_000 + 15 * 60_000))
        #expect(searching(80_000 + 15 * 60_000) == Self.one)
        choice.heard(Self.button, by: Self.two, -50, isNew: false, at: Self.after(86_400_000))
        choice.timerFired(at: Self.after(86_420_000))
        choice.timerFired(at: Self.after(86_440_000))
        #expect(searching(86_440_000) == Self.two)
        _ = choice.takeEffects()
        choice.roomChanged(Self.one, isFull: false)
        #expect(choice.takeEffects() == [.assignmentChanged])
        #expect(searching(86_440_000) == Self.one)
        #expect(choice.problems(linked: [:]).isEmpty)
    }

    @Test("A radio that has the button because its home is full becomes its home only if it hears it clearly better")
    func homeInPlaceOfFullHome() {
        for (strength, home) in [(Int8(-59), Self.one), (-40, Self.two)] {
            var choice = Self.atHome(2)
            choice.heard(Self.button, by: Self.one, -50, isNew: false, at: Self.start)
            choice.heard(Self.button, by: Self.two, strength, isNew: false, at: Self.start)
            choice.timerFired(at: Self.after(30_000))
            choice.roomChanged(Self.one, isFull: true)
            for _ in 0..<3 { Self.link(&choice, Self.two, at: Self.after(60_000)) }
            choice.roomChanged(Self.one, isFull: false)
            #expect(choice.radio(for: Self.button, at: Self.after(90_000)) == home)
        }
    }

    @Test("A full shared home keeps looking for its buttons, and a shared radio never takes the place of a full home")
    func fullSharedHome() {
        for (shared, name) in [([true, false], "home"), ([false, true], "other")] {
            var choice = Self.choice(shared: shared)
            choice.heard(Self.button, by: Self.two, -50, isNew: false, at: Self.start)
            choice.timerFired(at: Self.after(30_000))
            choice.timerFired(at: Self.after(50_000))
            choice.roomChanged(Self.one, isFull: true)
            #expect(choice.radio(for: Self.button, at: Self.after(50_000)) == Self.one, "\(name)")
        }
    }

    @Test("The first radio looks for a button that nobody has heard; then the one that had it")
    func home() {
        var choice = Self.choice(true, true)
        #expect(choice.radio(for: Self.button, at: Self.start) == Self.one)
        Self.link(&choice, Self.two, at: Self.start)
        #expect(choice.radio(for: Self.button, at: Self.start) == Self.two)
        // Another radio becomes the home when it has had the button twice in a row.
        Self.link(&choice, Self.one, at: Self.start)
        #expect(choice.radio(for: Self.button, at: Self.start) == Self.two)
        Self.link(&choice, Self.one, at: Self.start)
        #expect(choice.radio(for: Self.button, at: Self.start) == Self.one)
    }

    @Test("Another radio waits as long as the home may take to connect the button: BlueZ takes longer than an adapter")
    func slowHome() {
        var choice = Self.choice(true, true)
        choice.ready(
            Self.one, RadioInfo(address: Self.button, acceptListSize: 8, connectionTime: .milliseconds(500)),
            at: Self.start)
        Self.link(&choice, Self.one, at: Self.start)
        choice.heard(Self.button, by: Self.two, -60, isNew: false, at: Self.after(1000))
        #expect(choice.deadlines.earliest == Self.after(1500))
        choice.heard(Self.button, by: Self.two, -60, isNew: false, at: Self.after(1499))
        #expect(choice.radio(for: Self.button, at: Self.after(1499)) == Self.one)
        choice.timerFired(at: Self.after(1500))
        #expect(choice.radio(for: Self.button, at: Self.after(1500)) == Self.two)
    }

    /// A choice of ready radios that expects the button and whose home is the first.
    ///
    /// - Parameter shared: whether each radio is shared, as BlueZ is.
    private static func choice(shared: [Bool]) -> RadioChoice {
        var choice = RadioChoice(limits: shared.map { _ in nil })
        choice.expect([button], at: start)
        for (place, isShared) in shared.enumerated() {
            choice.ready(
                RadioID(rawValue: UInt8(place)),
                RadioInfo(
                    address: BluetoothAddress(rawValue: UInt64(place)), acceptListSize: 8,
                    connectionTime: .milliseconds(isShared ? 500 : 150), isShared: isShared), at: start)
        }
        link(&choice, one, at: start)
        return choice
    }

    @Test("A button whose link was lost and that nobody hears for a minute is also looked for by a shared radio")
    func missing() {
        // The home is the first radio.
        for (shared, helper) in [
            ([false, true], 1), ([false, false, true, true], 2), ([true, true], nil), ([false, false], nil),
        ] {
            var choice = Self.choice(shared: shared)
            func helpers(_ milliseconds: Int64) -> [Int] {
                shared.indices.filter {
                    choice.looksToo(RadioID(rawValue: UInt8($0)), for: Self.button, at: Self.after(milliseconds))
                }
            }
            choice.timerFired(at: Self.after(59_999))
            #expect(helpers(59_999) == [])
            // A radio hears it.
            choice.heard(Self.button, by: Self.one, -80, isNew: false, at: Self.after(59_999))
            choice.timerFired(at: Self.after(119_998))
            #expect(helpers(119_998) == [])
            choice.timerFired(at: Self.after(119_999))
            #expect(helpers(119_999) == [helper].compactMap(\.self), "\(shared)")
            #expect(choice.radio(for: Self.button, at: Self.after(119_999)) == Self.one)
            _ = choice.takeEffects()
            #expect(choice.problems(linked: [:]).isEmpty)
            #expect(choice.deadlines.earliest == nil)
            // A full radio does not help.
            if let helper {
                let radio = RadioID(rawValue: UInt8(helper))
                choice.roomChanged(radio, isFull: true)
                #expect(!helpers(120_000).contains(helper))
                choice.roomChanged(radio, isFull: false)
                choice.limitChanged(radio, to: 0)
                #expect(!helpers(120_000).contains(helper))
                choice.limitChanged(radio, to: 1)
                #expect(helpers(120_000) == [helper])
            }
            // A link of the helper may be coming up, so it looks on until another radio has found the button's service.
            choice.heard(Self.button, by: Self.one, -80, isNew: false, at: Self.after(130_000))
            choice.connected(Self.button, by: Self.one)
            #expect(helpers(130_000) == [helper].compactMap(\.self), "\(shared)")
            choice.attached(Self.button, to: Self.one)
            #expect(helpers(130_000) == [])
            _ = choice.takeEffects()
            #expect(choice.problems(linked: [Self.button: Self.one]).isEmpty)
        }
    }

    @Test(
        "A button is missing a minute after a link that may not have been real, and whose end therefore has any reason")
    func phantomLink() {
        var choice = Self.choice(shared: [false, true])
        choice.connected(Self.button, by: Self.one)
        choice.disconnected(Self.button, from: Self.one, wasAttached: false, isLost: false, at: Self.start)
        choice.timerFired(at: Self.after(60_000))
        #expect(choice.looksToo(Self.two, for: Self.button, at: Self.after(60_000)))
    }

    @Test("A button that ended its link itself is not missing, because it does not advertise")
    func notMissing() {
        var choice = Self.choice(shared: [false, true])
        choice.connected(Self.button, by: Self.one)
        choice.attached(Self.button, to: Self.one)
        choice.disconnected(Self.button, from: Self.one, wasAttached: true, isLost: false, at: Self.start)
        choice.timerFired(at: Self.after(120_000))
        #expect(!choice.looksToo(Self.two, for: Self.button, at: Self.after(120_000)))
    }

    @Test("A shared home looks for its button while another radio tries, until that one has found the service")
    func sharedHome() {
        for isShared in [true, false] {
            var choice = Self.choice(shared: [isShared, false])
            choice.heard(Self.button, by: Self.two, -60, isNew: false, at: Self.after(1000))
            #expect(!choice.looksToo(Self.one, for: Self.button, at: Self.after(1000)))
            choice.timerFired(at: Self.after(1500))
            #expect(choice.radio(for: Self.button, at: Self.after(1500)) == Self.two)
            #expect(choice.looksToo(Self.one, for: Self.button, at: Self.after(1500)) == isShared)
            #expect(!choice.looksToo(Self.two, for: Self.button, at: Self.after(1500)))
            choice.connected(Self.button, by: Self.two)
            #expect(choice.looksToo(Self.one, for: Self.button, at: Self.after(1600)) == isShared)
            _ = choice.takeEffects()
            choice.attached(Self.button, to: Self.two)
            #expect(!choice.looksToo(Self.one, for: Self.button, at: Self.after(1700)))
            #expect(choice.takeEffects() == (isShared ? [.assignmentChanged] : []))
        }
    }

    @Test(
        "A radio that hears the button better by 10 dB becomes its home at once, and one that found no service does not"
    )
    func better() {
        var choice = Self.choice(true, true)
        Self.link(&choice, Self.one, at: Self.start)
        choice.heard(Self.button, by: Self.one, -80, isNew: false, at: Self.start)
        choice.heard(Self.button, by: Self.two, -69, isNew: false, at: Self.start)
        Self.link(&choice, Self.two, at: Self.start)
        #expect(choice.radio(for: Self.button, at: Self.start) == Self.two)
        choice = Self.choice(true, true)
        choice.connected(Self.button, by: Self.two)
        choice.disconnected(Self.button, from: Self.two, wasAttached: false, isLost: true, at: Self.start)
        #expect(choice.radio(for: Self.button, at: Self.start) == Self.one)
    }

    @Test(
        "A signal from the time of pairing does not count against a home that cannot listen", arguments: [true, false]
    )
    func signalOfPairing(isShared: Bool) {
        var choice = Self.choice(shared: [isShared, false])
        choice.heard(Self.button, by: Self.one, -80, isNew: true, at: Self.start)
        choice.heard(Self.button, by: Self.two, -50, isNew: false, at: Self.start)
        Self.link(&choice, Self.two, at: Self.start)
        #expect(choice.radio(for: Self.button, at: Self.start) == (isShared ? Self.one : Self.two))
    }

    @Test(
        "A home that returns looks for its button at once if no other radio has heard the button",
        arguments: [true, false])
    func returnedHome(isShared: Bool) {
        var choice = Self.choice(shared: [isShared, isShared])
        for _ in 0..<2 { Self.link(&choice, Self.two, at: Self.start) }
        #expect(choice.radio(for: Self.button, at: Self.start) == Self.two)
        choice.lost(Self.two)
        #expect(choice.radio(for: Self.button, at: Self.start) == Self.one)
        choice.ready(
            Self.two, RadioInfo(address: BluetoothAddress(rawValue: 0), acceptListSize: 8, isShared: isShared),
            at: Self.start)
        #expect(choice.radio(for: Self.button, at: Self.after(1000)) == Self.two)
        // The advertisement that another radio hears is also the one on which the home connects.
        choice.told(Self.button, to: Self.two)
        _ = choice.takeEffects()
        choice.heard(Self.button, by: Self.one, -60, isNew: false, at: Self.after(1000))
        #expect(choice.radio(for: Self.button, at: Self.after(1000)) == Self.two)
        #expect(choice.takeEffects() == [])
        choice.timerFired(at: Self.after(1500))
        #expect(choice.radio(for: Self.button, at: Self.after(1500)) == Self.one)
        #expect(choice.looksToo(Self.two, for: Self.button, at: Self.after(1500)) == isShared)
    }

    @Test("A home that is lost is trusted again after a minute, if another radio hears its button")
    func trust() {
        var choice = Self.choice(true, true)
        Self.link(&choice, Self.one, at: Self.start)
        choice.heard(Self.button, by: Self.two, -60, isNew: false, at: Self.start)
        choice.lost(Self.one)
        #expect(choice.radio(for: Self.button, at: Self.start) == Self.two)
        choice.ready(Self.one, RadioInfo(address: BluetoothAddress(rawValue: 0), acceptListSize: 8), at: Self.start)
        #expect(choice.radio(for: Self.button, at: Self.after(59_000)) == Self.two)
        choice.timerFired(at: Self.after(60_000))
        #expect(choice.radio(for: Self.button, at: Self.after(60_000)) == Self.one)
        choice.lost(Self.two)
        choice.lost(Self.one)
        #expect(choice.radio(for: Self.button, at: Self.after(60_000)) == nil)
    }

    @Test("Another radio that hears the button waits 150 ms for its home, and then takes over")
    func patience() {
        var choice = Self.atHome(2)
        choice.heard(Self.button, by: Self.one, -60, isNew: false, at: Self.start)
        #expect(choice.deadlines.earliest == nil)
        choice.heard(Self.button, by: Self.two, -60, isNew: false, at: Self.start)
        choice.timerFired(at: Self.after(149))
        #expect(choice.radio(for: Self.button, at: Self.after(149)) == Self.one)
        // The home hears it better, and did not connect it: it is tried again, until it has failed.
        choice.heard(Self.button, by: Self.two, -50, isNew: false, at: Self.after(149))
        choice.timerFired(at: Self.after(150))
        #expect(choice.radio(for: Self.button, at: Self.after(150)) == Self.two)
    }

    @Test("Failures of a radio to connect a button do not count after 15 min", arguments: [Int64(60), 1100])
    func oldFailures(seconds: Int64) {
        var choice = Self.atHome(3)
        /// A radio is chosen, and does not connect the button in time.
        func tries(_ seconds: Int64, _ signals: [(RadioID, Int8)]) -> RadioID? {
            let now = Self.start + .seconds(seconds)
            for (radio, rssi) in signals { choice.heard(Self.button, by: radio, rssi, isNew: false, at: now) }
            choice.timerFired(at: now + .milliseconds(150))
            defer { choice.timerFired(at: now + .milliseconds(1650)) }
            return choice.radio(for: Self.button, at: now + .milliseconds(150))
        }
        for time in [Int64(0), 30] { #expect(tries(time, [(Self.two, -50)]) == Self.two) }
        // Two failures weigh more than 2 dB.
        let both = [(Self.two, Int8(-50)), (Self.three, -52)]
        #expect(tries(seconds, both) == (seconds < 900 ? Self.three : Self.two))
        // A new failure after that time is the first one again.
        if seconds > 900 { #expect(tries(seconds + 30, both) == Self.two) }
    }

    @Test("A radio that did not connect in 1.5 s is left out for 20 s")
    func failure() {
        var choice = Self.atHome(3)
        choice.heard(Self.button, by: Self.two, -50, isNew: false, at: Self.start)
        choice.timerFired(at: Self.after(150))
        #expect(choice.radio(for: Self.button, at: Self.after(150)) == Self.two)
        choice.heard(Self.button, by: Self.two, -50, isNew: false, at: Self.after(1600))
        choice.heard(Self.button, by: Self.three, -70, isNew: false, at: Self.after(1600))
        choice.timerFired(at: Self.after(1650))
        #expect(choice.radio(for: Self.button, at: Self.after(1650)) == Self.three)
        choice.connected(Self.button, by: Self.three)
        choice.disconnected(Self.button, from: Self.three, wasAttached: false, isLost: true, at: Self.after(2000))
        // Both have failed, and nobody else hears the button: the one whose failure is not quite new is tried again.
        choice.heard(Self.button, by: Self.two, -50, isNew: false, at: Self.after(2100))
        choice.heard(Self.button, by: Self.three, -40, isNew: false, at: Self.after(2100))
        choice.timerFired(at: Self.after(2250))
        #expect(choice.radio(for: Self.button, at: Self.after(2250)) == Self.two)
        choice.attemptFailed(Self.button, by: Self.two, at: Self.after(2260))
        #expect(choice.radio(for: Self.button, at: Self.after(2260)) == Self.one)
        choice.heard(Self.button, by: Self.two, -50, isNew: false, at: Self.after(22_000))
        choice.timerFired(at: Self.after(22_150))
        #expect(choice.radio(for: Self.button, at: Self.after(22_150)) == Self.two)
    }

    @Test("A full radio is passed over; if only full ones hear the button, the best of them is to make room, for 5 s")
    func full() {
        var choice = Self.atHome(3)
        choice.roomChanged(Self.one, isFull: true)
        choice.roomChanged(Self.two, isFull: true)
        choice.heard(Self.button, by: Self.two, -50, isNew: false, at: Self.start)
        #expect(choice.radio(for: Self.button, at: Self.start) == Self.two)
        choice.heard(Self.button, by: Self.three, -80, isNew: false, at: Self.after(10))
        #expect(choice.radio(for: Self.button, at: Self.after(10)) == Self.three)
        choice = Self.atHome(2)
        choice.roomChanged(Self.one, isFull: true)
        choice.roomChanged(Self.two, isFull: true)
        choice.heard(Self.button, by: Self.two, -50, isNew: false, at: Self.start)
        choice.timerFired(at: Self.after(5000))
        #expect(choice.radio(for: Self.button, at: Self.after(5000)) == Self.one)
    }

    @Test("A signal that is too weak or too old starts no attempt")
    func weak() {
        var choice = Self.atHome(2)
        choice.heard(Self.button, by: Self.two, -93, isNew: false, at: Self.start)
        choice.timerFired(at: Self.after(150))
        #expect(choice.radio(for: Self.button, at: Self.after(150)) == Self.one)
        choice = Self.atHome(2)
        choice.heard(Self.button, by: Self.two, -60, isNew: false, at: Self.start)
        choice.timerFired(at: Self.after(1100))
        #expect(choice.radio(for: Self.button, at: Self.after(1100)) == Self.one)
    }

    @Test("A proxy is told to connect at once, and an adapter is preferred within 10 dB")
    func proxies() {
        var choice = Self.choice(false, true)
        choice.heard(Self.button, by: Self.one, -60, isNew: false, at: Self.start)
        #expect(choice.takeEffects().contains(.attempt(Self.one, Self.button)))
        choice = Self.choice(false, true, true)
        Self.link(&choice, Self.three, at: Self.start)
        choice.heard(Self.button, by: Self.one, -60, isNew: false, at: Self.start)
        choice.heard(Self.button, by: Self.two, -69, isNew: false, at: Self.start)
        choice.timerFired(at: Self.after(150))
        #expect(choice.radio(for: Self.button, at: Self.after(150)) == Self.two)
        choice = Self.choice(false, false, true)
        choice.roomChanged(Self.three, isFull: true)
        choice.heard(Self.button, by: Self.two, -60, isNew: false, at: Self.start)
        #expect(choice.takeEffects().contains(.attempt(Self.two, Self.button)))
        // Another button goes to the other proxy, because this one hears nothing while it connects.
        let other = BluetoothAddress(rawValue: 0x80E4_DA00_0002)
        choice.expect([Self.button, other], at: Self.start)
        choice.heard(other, by: Self.one, -61, isNew: false, at: Self.start)
        choice.heard(other, by: Self.two, -60, isNew: false, at: Self.start)
        #expect(choice.takeEffects().contains(.attempt(Self.one, other)))
    }

    @Test(
        "The home of a button is told when its first link is attached and on each change, and restored after a restart")
    func homeIsKept() {
        var choice = Self.choice(true, true)
        choice.connected(Self.button, by: Self.two)
        _ = choice.takeEffects()
        choice.attached(Self.button, to: Self.two)
        #expect(choice.takeEffects() == [.homeChanged(Self.button, Self.two)])
        choice.disconnected(Self.button, from: Self.two, wasAttached: true, isLost: true, at: Self.start)
        Self.link(&choice, Self.one, at: Self.start)
        choice.connected(Self.button, by: Self.one)
        choice.attached(Self.button, to: Self.one)
        _ = choice.takeEffects()
        choice.disconnected(Self.button, from: Self.one, wasAttached: true, isLost: true, at: Self.start)
        #expect(choice.takeEffects().contains(.homeChanged(Self.button, Self.one)))
        choice = Self.choice(true, true)
        choice.restore(home: Self.two, of: Self.button)
        choice.restore(home: RadioID(rawValue: 7), of: Self.button)
        #expect(choice.radio(for: Self.button, at: Self.start) == Self.two)
    }

    @Test("A button that is forgotten while it has a link has no home when it is paired again")
    func forgotten() {
        var choice = Self.choice(true, true)
        Self.link(&choice, Self.two, at: Self.start)
        choice.connected(Self.button, by: Self.two)
        choice.forget(Self.button)
        choice.expect([], at: Self.start)
        choice.attached(Self.button, to: Self.two)
        _ = choice.takeEffects()
        #expect(choice.problems(linked: [Self.button: Self.two]).isEmpty)
        choice.disconnected(Self.button, from: Self.two, wasAttached: true, isLost: true, at: Self.start)
        _ = choice.takeEffects()
        #expect(choice.problems(linked: [:]).isEmpty)
        choice.expect([Self.button], at: Self.start)
        #expect(choice.radio(for: Self.button, at: Self.start) == Self.one)
    }

    @Test("A button that waits for room on one radio does not wait for another instead while that one hears it")
    func waiting() {
        var choice = Self.atHome(3)
        for radio in [Self.one, Self.two, Self.three] { choice.roomChanged(radio, isFull: true) }
        choice.heard(Self.button, by: Self.two, -60, isNew: false, at: Self.start)
        choice.heard(Self.button, by: Self.three, -50, isNew: false, at: Self.after(10))
        #expect(choice.radio(for: Self.button, at: Self.after(10)) == Self.two)
        choice.heard(Self.button, by: Self.three, -50, isNew: false, at: Self.after(1100))
        #expect(choice.radio(for: Self.button, at: Self.after(1100)) == Self.three)
    }

    @Test("A proxy hears nothing until its attempt ends, however long ago another radio was tried")
    func longAttempt() {
        let other = BluetoothAddress(rawValue: 0x80E4_DA00_0002)
        func chosen(endingEarly: Bool) -> RadioID? {
            var choice = Self.choice(false, false)
            choice.expect([other], at: Self.start)
            choice.heard(other, by: Self.two, -60, isNew: false, at: Self.start)
            choice.timerFired(at: Self.after(1500))
            if endingEarly { choice.attemptFailed(other, by: Self.two, at: Self.after(1600)) }
            choice.heard(Self.button, by: Self.one, -61, isNew: true, at: Self.after(2000))
            choice.expect([Self.button, other], at: Self.after(2000))
            choice.heard(Self.button, by: Self.two, -60, isNew: false, at: Self.after(2000))
            return choice.radio(for: Self.button, at: Self.after(2000))
        }
        #expect(chosen(endingEarly: true) == Self.two)
        #expect(chosen(endingEarly: false) == Self.one)
    }

    @Test("Of radios that hear a button alike, one that would give its last link is passed over")
    func lastLink() {
        let others = (0..<2).map { BluetoothAddress(rawValue: 0x80E4_DA00_0010 + UInt64($0)) }
        func chosen(limit: Int) -> RadioID? {
            var choice = Self.choice(true, true, true)
            choice.limitChanged(Self.two, to: limit)
            choice.expect(Set(others + [Self.button]), at: Self.start)
            for other in others { choice.connected(other, by: Self.two) }
            choice.restore(home: Self.one, of: Self.button)
            choice.heard(Self.button, by: Self.two, -60, isNew: false, at: Self.start)
            choice.heard(Self.button, by: Self.three, -60, isNew: false, at: Self.start)
            choice.timerFired(at: Self.after(150))
            return choice.radio(for: Self.button, at: Self.after(150))
        }
        #expect(chosen(limit: 4) == Self.two)
        #expect(chosen(limit: 3) == Self.three)
    }

    @Test("What only pretends to be a button is forgotten after a minute when 64 others were heard")
    func strangers() {
        var choice = Self.choice(true, true)
        for number in 0..<200 {
            choice.heard(
                BluetoothAddress(rawValue: 0x1000 + UInt64(number)), by: Self.one, -50, isNew: true, at: Self.start)
        }
        let late = BluetoothAddress(rawValue: 0x9000)
        choice.heard(late, by: Self.two, -50, isNew: true, at: Self.start)
        choice.expect([Self.button, late], at: Self.start)
        #expect(choice.radio(for: late, at: Self.start) == Self.one)
        let later = BluetoothAddress(rawValue: 0x9001)
        choice.heard(later, by: Self.two, -50, isNew: true, at: Self.after(61_000))
        choice.expect([Self.button, later], at: Self.after(61_000))
        #expect(choice.radio(for: later, at: Self.after(61_000)) == Self.two)
    }
}

@Suite("A fleet of radios")
struct RadioFleetTests {
    private static let hall = BluetoothAddress(rawValue: 0x80E4_DA7B_0001)

    @Test(
        "A real link through another radio ends the one before, which is reported first, and whose late events are passed over"
    )
    func superseded() {
        var fleet = TwoProxies()
        fleet.hear(0, rssi: -60)
        #expect(fleet.requests[0] == 1)
        // The first proxy takes longer than 1.5 s, so the second one is tried, and both connect.
        fleet.wait(.milliseconds(1400))
        fleet.hear(1, rssi: -60)
        fleet.wait(.milliseconds(200))
        #expect(fleet.requests == [1, 1])
        fleet.connect(0)
        fleet.connect(1)
        fleet.findService(1)
        // Each proxy's time counts from when it was told to connect.
        #expect([fleet.takeAttempt(0), fleet.takeAttempt(1)] == [.milliseconds(1600), .milliseconds(100)])
        #expect(fleet.takeAttempt(0) == nil)
        let (first, second) = (LinkID(RadioID(rawValue: 0), 1), LinkID(RadioID(rawValue: 1), 1))
        #expect(
            fleet.events == [
                .connected(first, Self.hall), .disconnected(first, .superseded), .connected(second, Self.hall),
            ])
        fleet.disconnect(0)
        #expect(fleet.events.count == 3)
        #expect(fleet.problems.isEmpty)
    }

    /// Two proxies that have connected the button at nearly the same time, and their links.
    private static func collided() -> (TwoProxies, LinkID, LinkID) {
        var fleet = TwoProxies()
        fleet.hear(0, rssi: -60)
        fleet.wait(.milliseconds(1400))
        fleet.hear(1, rssi: -60)
        fleet.wait(.milliseconds(200))
        fleet.connect(0)
        fleet.connect(1)
        return (fleet, LinkID(RadioID(rawValue: 0), 1), LinkID(RadioID(rawValue: 1), 1))
    }

    @Test(
        "A second link may be a phantom: the first one goes on, whether its service was found before or is found afterwards"
    )
    func phantom() {
        for isFirst in [true, false] {
            var (fleet, first, _) = Self.collided()
            if isFirst {
                fleet = TwoProxies()
                fleet.hear(0, rssi: -60)
                fleet.wait(.milliseconds(1400))
                fleet.hear(1, rssi: -60)
                fleet.wait(.milliseconds(200))
                fleet.attach(0)
                // What the second proxy says may be late.
                fleet.wait(.seconds(2))
                fleet.connect(1)
            } else {
                fleet.findService(0)
            }
            #expect(fleet.events == [.connected(first, Self.hall)])
            fleet.disconnect(1)
            #expect(fleet.events == [.connected(first, Self.hall)])
            #expect(fleet.endedByUs == 0 && fleet.problems.isEmpty)
        }
    }

    @Test("If the first of two links was the phantom, the second one takes its place, however the first one ends")
    func firstIsPhantom() {
        for end in 0..<5 {
            var (fleet, first, second) = Self.collided()
            switch end {
            case 0: fleet.findService(1)
            case 1: fleet.disconnect(0)
            case 2: fleet.close(0)
            // Bluedroid's error for a request whose link has ended.
            case 3: fleet.fail(0, error: 0x85)
            default: fleet.fail(0, error: 0x0E)
            }
            fleet.disconnect(0)
            #expect(
                fleet.events == [
                    .connected(first, Self.hall), .disconnected(first, .superseded), .connected(second, Self.hall),
                ], "\(end)")
            #expect(fleet.problems.isEmpty)
            fleet.findService(1)
            #expect(fleet.events.count == 3 && fleet.problems.isEmpty)
        }
    }

    @Test(
        "A second link is never reported if it ends by itself or with its radio, has no service, or is not wanted any more"
    )
    func endedRival() {
        for end in 0..<4 {
            var (fleet, first, _) = Self.collided()
            switch end {
            case 0: fleet.disconnect(1)
            case 1: fleet.close(1)
            case 2: fleet.fail(1, error: 0x0E)
            default: fleet.perform(.expect([], unwanted: []))
            }
            #expect(fleet.endedByUs == (end < 2 ? 0 : 1))
            #expect(fleet.problems.isEmpty)
            fleet.disconnect(0)
            #expect(fleet.events.count == 2 && fleet.events.first == .connected(first, Self.hall), "\(end)")
            #expect(fleet.problems.isEmpty)
        }
    }

    @Test(
        "The order to end a dead link follows what the radio says in answer to the same packet, because both are encrypted in turn"
    )
    func orderOfDeadLink() {
        var fleet = TwoProxies()
        fleet.hear(0, rssi: -60)
        fleet.attach(0)
        fleet.wait(.seconds(1))
        fleet.hear(0, rssi: -60)
        fleet.wait(.milliseconds(1100))
        fleet.hearAndPing(0)
        #expect(
            fleet.told.suffix(2) == [
                .pingResponse, .deviceRequest(address: ProxyTalk.address, .disconnect, addressType: nil),
            ])
    }

    @Test(
        "A button that advertises for a second has no link, even if the proxy did not report its end",
        arguments: [0, 1])
    func unreportedEnd(hearing: Int) {
        var fleet = TwoProxies()
        fleet.hear(0, rssi: -60)
        fleet.attach(0)
        let link = LinkID(RadioID(rawValue: 0), 1)
        fleet.wait(.seconds(9))
        // An advertisement that comes late proves nothing.
        fleet.hear(hearing, rssi: -60)
        fleet.hear(hearing, rssi: -60)
        fleet.keepAlive()
        fleet.wait(.seconds(9))
        fleet.keepAlive()
        fleet.wait(.seconds(6))
        fleet.hear(hearing, rssi: -60)
        #expect(fleet.events == [.connected(link, Self.hall)])
        fleet.wait(.milliseconds(1100))
        fleet.hear(hearing, rssi: -60)
        #expect(fleet.events == [.connected(link, Self.hall), .disconnected(link, .unknown)])
        #expect(fleet.problems.isEmpty)
        // The proxy is asked to end the link, and never answers.
        for _ in 0..<4 {
            fleet.keepAlive()
            fleet.wait(.seconds(9))
        }
        let before = fleet.requests
        fleet.hear(hearing, rssi: -60)
        fleet.wait(.milliseconds(400))
        fleet.hear(hearing, rssi: -60)
        #expect(fleet.requests[hearing] == before[hearing] + 1)
        #expect(fleet.problems.isEmpty)
    }

    @Test("A button that had no link yet is connected by the proxy that hears it, and after a failure soon again")
    func noHome() {
        var fleet = TwoProxies()
        fleet.hear(1, rssi: -60)
        #expect(fleet.requests == [0, 1])
        fleet.disconnect(1)
        #expect(fleet.takeAttempt(1) == nil)
        fleet.wait(.milliseconds(400))
        fleet.hear(1, rssi: -60)
        #expect(fleet.requests == [0, 2])
    }

    @Test("The links of a proxy that is lost end with it, and the other proxy connects the button when it hears it")
    func lost() {
        var fleet = TwoProxies()
        fleet.hear(0, rssi: -60)
        fleet.connect(0)
        fleet.close(0)
        #expect(fleet.problems.isEmpty)
        fleet.hear(1, rssi: -60)
        #expect(fleet.requests[1] == 1)
    }
}

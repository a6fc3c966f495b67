import BluetoothHost
import ButtonModel
import Hub
import JSON
import Simulator
import TestSupport

/// The events of a house and their times, generated from a seed.
struct Story: Hashable, Sendable {
    struct Happening: Hashable, Sendable {
        /// Time since the buttons were paired.
        var at: Duration
        var misfortune: Misfortune
    }

    var seed: UInt64
    var happenings: [Happening]
    /// The kinds of the radios; `nil`: all are adapters.
    var mixture: [HouseRadio]?

    /// The link capacities of adapters in stories: at least one for each button, or fewer.
    static let linkCounts = [8, 2, 3, 4]
    /// Every third house has an adapter with few links.
    var links: Int {
        guard mixture == nil else { return Self.mixedLinkCounts[seed % 3 == 0 ? 1 : 0] }
        return seed % 3 == 0 ? Self.linkCounts[1 + Int(seed / 3 % 3)] : Self.linkCounts[0]
    }

    /// The same for houses with radios of several kinds. An ESPHome proxy has three slots.
    static let mixedLinkCounts = [8, 3]
    /// The radios of houses with radios of several kinds.
    static let mixtures: [[HouseRadio]] = [
        [.bluez], [.proxy], [.adapter, .bluez], [.adapter, .proxy], [.bluez, .proxy], [.proxy, .proxy],
        [.bluez, .bluez], [.proxy, .bluez, .adapter],
    ]

    static let maximumRadios = 3
    /// Two houses of five have several radios.
    var radios: Int { mixture?.count ?? [1, 2, 3, 1, 1][Int(seed % 5)] }
    var kinds: [HouseRadio] { mixture ?? Array(repeating: .adapter, count: radios) }

    static let porch = SimulatedButtonDescription(
        name: "porch", address: BluetoothAddress("80:E4:DA:00:00:03"), serial: "BA00-P00003", isPublic: true)
    static let sofa = SimulatedButtonDescription(
        name: "sofa", address: BluetoothAddress("80:E4:DA:00:00:04"), serial: "DA01-S00004", isPublic: true, model: .duo
    )
    static let desk = SimulatedButtonDescription(
        name: "desk", address: BluetoothAddress("80:E4:DA:00:00:05"), serial: "TA01-D00005", isPublic: true,
        model: .twist)
    static let buttons = [Household.kitchen, Household.hall, porch, sofa, desk]

    init(seed: UInt64, happenings: [Happening]) {
        self.seed = seed
        self.happenings = happenings
    }

    /// A story of a house with radios of several kinds.
    init(mixed seed: UInt64) { self.init(seed: seed, mixture: Self.mixtures[Int(seed % UInt64(Self.mixtures.count))]) }

    init(seed: UInt64, mixture: [HouseRadio]? = nil) {
        self.seed = seed
        self.mixture = mixture
        happenings = []
        var random = SeededGenerator(seed: seed)
        var now = Duration.zero
        // Each story has its own kinds of faults: some concern the disk, some the radio.
        let weather = Misfortune.Kind.allCases.map { _ in Int.random(in: 0...4, using: &random) }
        let kinds = zip(Misfortune.Kind.allCases, weather).flatMap { Array(repeating: $0, count: $1) }
        for _ in 0..<Int.random(in: 8...28, using: &random) {
            now = now + Self.pause(&random)
            let isPress = kinds.isEmpty || Int.random(in: 0..<5, using: &random) < 2
            let kind = isPress ? .press : kinds[Int.random(in: 0..<kinds.count, using: &random)]
            if kind == .press, Int.random(in: 0..<6, using: &random) == 0 {
                happenings += Self.longHold(from: now, &random)
            } else {
                happenings.append(Happening(at: now, misfortune: Misfortune(kind, &random)))
            }
        }
        if radios > 1 { happenings += Self.troubleOfRadios(radios, until: now, seed: seed) }
        if let mixture { happenings += Self.troubleOfFarEnds(mixture, until: now, seed: seed) }
        // The events of a long hold are interleaved with later ones.
        happenings.sort { $0.at < $1.at }
    }

    /// Radios that are pulled, away or back, that stall or lie, and buttons that walk: each radio hears them stronger, weaker
    /// or not at all.
    private static func troubleOfRadios(_ count: Int, until end: Duration, seed: UInt64) -> [Happening] {
        var random = SeededGenerator(seed: seed ^ 0x5AD1_0000)
        return (0..<Int.random(in: 2...14, using: &random)).map { _ in
            let at = Duration.milliseconds(Int64.random(in: 0...max(1, end.milliseconds), using: &random))
            let radio = Int.random(in: 0..<count, using: &random)
            let button = buttons[Int.random(in: 0..<buttons.count, using: &random)].name
            let trouble: Misfortune =
                switch Int.random(in: 0..<6, using: &random) {
                case 0: .unplugRadio(radio)
                case 1: .radioIsAway(radio, true)
                case 2: .radioIsAway(radio, false)
                case 3: .signal(button, radio: radio, nil)
                default: .signal(button, radio: radio, Int8.random(in: -95 ... -40, using: &random))
                }
            return Happening(at: at, misfortune: trouble)
        } + faultsOfRadios(count, until: end, seed: seed)
    }

    /// Every second house has radios that stall (they do not answer, or do nothing at all) or lie (about links, accept lists
    /// and sent packets).
    private static func faultsOfRadios(_ count: Int, until end: Duration, seed: UInt64) -> [Happening] {
        var random = SeededGenerator(seed: seed ^ 0x5AD1_0001)
        guard Bool.random(using: &random) else { return [] }
        return (0..<Int.random(in: 1...5, using: &random)).map { _ in
            let at = Duration.milliseconds(Int64.random(in: 0...max(1, end.milliseconds), using: &random))
            let radio = Int.random(in: 0..<count, using: &random)
            let fault: ControllerFault =
                switch Int.random(in: 0..<7, using: &random) {
                case 0: .stopAnswering
                case 1: .wedge
                case 2: .hardwareError(code: 0x42)
                case 3: .loseCompletedPackets(Int.random(in: 1...3, using: &random))
                case 4: .delayConnectionComplete(.milliseconds(Int64.random(in: 1...900, using: &random)))
                case 5:
                    .refuse(.leCreateConnection, .memoryCapacityExceeded, count: Int.random(in: 1...4, using: &random))
                default:
                    .refuse(
                        .leAddDeviceToFilterAcceptList, .commandDisallowed, count: Int.random(in: 1...4, using: &random)
                    )
                }
            return Happening(at: at, misfortune: .radioFault(radio, fault))
        }
    }

    /// Programs between the hub and the controllers that end, stall, lie or are used by others.
    private static func troubleOfFarEnds(_ kinds: [HouseRadio], until end: Duration, seed: UInt64) -> [Happening] {
        var random = SeededGenerator(seed: seed ^ 0x5AD1_0002)
        return (0..<Int.random(in: 1...8, using: &random)).flatMap { _ -> [Happening] in
            let at = Duration.milliseconds(Int64.random(in: 0...max(1, end.milliseconds), using: &random))
            let radio = Int.random(in: 0..<kinds.count, using: &random)
            let address = buttons[Int.random(in: 0..<buttons.count, using: &random)].wantedAddress
            func time(_ range: ClosedRange<Int64>) -> Duration {
                .milliseconds(Int64.random(in: range, using: &random))
            }
            let number = Int.random(in: 0..<16, using: &random)
            switch kinds[radio] {
            case .adapter: return []
            case .bluez:
                let trouble: SimulatedBluetoothd.Trouble =
                    switch number {
                    case 0, 1: .restart(after: time(100...20_000))
                    case 2, 3: .kill(restartAfter: time(100...20_000))
                    case 4: .powerOff(for: time(100...30_000))
                    case 5: .pull(for: time(100...30_000))
                    case 6, 7: .stall(for: time(10...20_000))
                    case 8, 9: .hold(address, for: time(1000...40_000))
                    case 10, 11: .disconnect(address)
                    case 12, 13: .connect(address)
                    default: .remove(address)
                    }
                return [Happening(at: at, misfortune: .farEnd(radio, .bluetoothd(trouble)))]
            case .proxy:
                let count = Int.random(in: 1...3, using: &random)
                let trouble: SimulatedProxy.Trouble =
                    switch number {
                    case 0...2: .restart(after: time(100...30_000))
                    case 3...5: .cut(for: time(100...60_000))
                    case 6: .deafness(for: time(1000...100_000))
                    case 7...9: .hideEnds(count, freesSlots: true)
                    case 10, 11: .hideEnds(count, freesSlots: false)
                    case 12, 13: .loseNotifications(count)
                    default: .failAttempts(count)
                    }
                return [Happening(at: at, misfortune: .farEnd(radio, .proxy(trouble)))]
            }
        } + faultsOfProxies(kinds, until: end, seed: seed)
    }

    /// Every second house with proxies has one that another client takes for a while, or whose scanner is stuck until somebody
    /// repairs it. They are drawn apart, so that the seeds of all other trouble keep their meaning.
    private static func faultsOfProxies(_ kinds: [HouseRadio], until end: Duration, seed: UInt64) -> [Happening] {
        var random = SeededGenerator(seed: seed ^ 0x5AD1_0003)
        let proxies = kinds.indices.filter { kinds[$0] == .proxy }
        guard let radio = proxies.randomElement(using: &random), Bool.random(using: &random) else { return [] }
        func happening(_ at: Duration, _ trouble: SimulatedProxy.Trouble) -> Happening {
            Happening(at: at, misfortune: .farEnd(radio, .proxy(trouble)))
        }
        let at = Duration.milliseconds(Int64.random(in: 0...max(1, end.milliseconds), using: &random))
        let time = Int64.random(in: 1000...120_000, using: &random)
        if Bool.random(using: &random) { return [happening(at, .occupied(for: .milliseconds(time / 2)))] }
        // Deafness ends by itself, and with it that of a scanner that is stuck.
        return [
            happening(at, .stuckScanner), happening(at + .milliseconds(time), .deafness(for: .milliseconds(1))),
        ]
    }

    /// True if one of several radios stalls or lies.
    var hasFaultyRadio: Bool {
        radios > 1
            && happenings.contains {
                if case .radioFault = $0.misfortune { true } else { false }
            }
    }

    /// Holds a button during a fault of its link, and releases it before or after the repair.
    private static func longHold(from start: Duration, _ random: inout SeededGenerator) -> [Happening] {
        func after(_ range: ClosedRange<Int64>) -> Duration {
            start + .milliseconds(Int64.random(in: range, using: &random))
        }
        let button = buttons[Int.random(in: 0..<buttons.count, using: &random)].name
        var happenings = [Happening(at: start, misfortune: .press(button, .down))]
        let lost = after(900...4000)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: happenings.append(Happening(at: lost, misfortune: .button(button, .dropLink)))
        case 1: happenings.append(Happening(at: lost, misfortune: .crash(for: .zero)))
        case 2: happenings.append(Happening(at: lost, misfortune: .stop))
        default: happenings.append(Happening(at: lost, misfortune: .reach(button, false)))
        }
        happenings.append(Happening(at: after(1000...25_000), misfortune: .press(button, .up)))
        happenings.append(Happening(at: after(4000...30_000), misfortune: .reach(button, true)))
        return happenings
    }

    /// Usually within the time of a gesture, sometimes longer than every wait.
    private static func pause(_ random: inout SeededGenerator) -> Duration {
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<3: .milliseconds(Int64.random(in: 0...60, using: &random))
        case 3..<8: .milliseconds(Int64.random(in: 60...1500, using: &random))
        case 8..<11: .milliseconds(Int64.random(in: 1500...6000, using: &random))
        default: .milliseconds(Int64.random(in: 6000...40_000, using: &random))
        }
    }

    /// True for an adapter with fewer links than the house has buttons.
    var hasFewLinks: Bool { links < Self.buttons.count }

    /// True if a button is pressed or moved while the disk is full.
    var hasPressOnFullDisk: Bool {
        var isFull = false
        for happening in happenings {
            if case .diskIsFull(let full) = happening.misfortune { isFull = full }
            guard isFull else { continue }
            if case .press = happening.misfortune { return true }
            if case .move = happening.misfortune { return true }
            if case .pressTogether = happening.misfortune { return true }
        }
        return false
    }

    /// True if a button loses its link, or the daemon dies, while the button is held for more than a second.
    var hasLongHold: Bool {
        happenings.enumerated().contains { place, down in
            guard case .press(let button, .down) = down.misfortune else { return false }
            let held = happenings[place...].prefix { $0.misfortune != .press(button, .up) }
            guard held.endIndex < happenings.endIndex, happenings[held.endIndex].at - down.at > .seconds(1) else {
                return false
            }
            let loss: [Misfortune] = [.button(button, .dropLink), .reach(button, false), .crash(for: .zero), .stop]
            return held.contains { loss.contains($0.misfortune) }
        }
    }

    func without(_ place: Int) -> Story {
        var story = self
        story.happenings.remove(at: place)
        return story
    }
}

extension Story: CustomStringConvertible {
    /// One line for each event.
    var description: String {
        "story \(seed), \(links) links, \(kinds.map(\.rawValue)):\n"
            + happenings.map { "  \($0.at.milliseconds) ms: \($0.misfortune)" }.joined(separator: "\n")
    }
}

extension Misfortune {
    enum Kind: CaseIterable {
        case press, reach, button, adapter, broker, neighbour, disk, sync, end, clock, rules, program, request
    }

    private static let hostileTexts = [
        "a/b", "#", "+", "-rf", "--", "$(touch x)", "{{ trigger.at }}", "line\nbreak", "\u{0}", "..", "\u{1B}[2J", "",
        "'; echo", "\u{202E}abc", "ordinary",
    ]

    private static let presses: [SimulatedPress] = [
        .click, .click, .click, .doubleClick, .hold, .hold, .down, .up,
    ]

    /// Movements that only a Duo and a Twist have.
    private static func movement(of button: String, _ random: inout SeededGenerator) -> SimulatedWorld.Input {
        let part: ButtonPart = button == "sofa" && Bool.random(using: &random) ? .small : .big
        let hundredths = Int.random(in: -40...40, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return .pushTurn(button: button, hundredths: hundredths, part: part)
        case 1: return .turn(button: button, hundredths: hundredths)
        case 2 where button == "sofa":
            return .swipe(
                button: button, SwipeDirection.allCases.randomElement(using: &random) ?? .left, part: part)
        default:
            return .press(button: button, presses.randomElement(using: &random) ?? .click, part: part)
        }
    }

    init(_ kind: Kind, _ random: inout SeededGenerator) {
        func any<Choices: Collection>(_ choices: Choices) -> Choices.Element {
            choices[choices.index(choices.startIndex, offsetBy: Int.random(in: 0..<choices.count, using: &random))]
        }
        func odds(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }
        let button = any(Story.buttons).name
        let text = any(Self.hostileTexts)
        self =
            switch kind {
            case .press:
                if odds(10) {
                    .pressTogether("kitchen", "porch")
                } else if button == "sofa" || button == "desk", !odds(3) {
                    .move(Self.movement(of: button, &random))
                } else {
                    .press(button, any(Self.presses))
                }
            case .reach: .reach(button, odds(2))
            case .button:
                odds(6)
                    ? .battery(button, millivolts: any([2500, 2600, 2700, 3000]))
                    : .button(
                        button,
                        any([
                            .reboot, .dropLink, .dropLink, .wrongSignature, .lostAcknowledgement,
                            .ignoresRequests(true),
                            .ignoresRequests(false),
                        ]))
            case .adapter:
                any([
                    .unplug, .adapterIsAway(true), .adapterIsAway(false), .adapter(.hardwareError(code: 0x42)),
                    .adapter(.stopAnswering), .adapter(.wedge), .adapter(.loseCompletedPackets(any(1...3))),
                    .adapter(.refuse(.leCreateConnection, .memoryCapacityExceeded, count: any(1...4))),
                    .adapter(.refuse(.leAddDeviceToFilterAcceptList, .commandDisallowed, count: any(1...4))),
                    .adapter(.refuse(.leCreateConnectionCancel, .commandDisallowed, count: 1)),
                    .adapter(.delayConnectionComplete(.milliseconds(any(1...900) as Int64))),
                ])
            case .broker:
                any([.loseBroker, .bringBrokerBack, .bringBrokerBack, .brokerIsSilent(true), .brokerIsSilent(false)])
            case .neighbour:
                any([
                    .say(text, on: "home/word"), .say(any(["0", "1", "2", "x"]), on: "home/guests"),
                    .retain("1", on: "home/guests"), .retain(text, on: "home/word"),
                    .retain("{}", on: "tryck/rules/kitchen_click/run"),
                    .say(#"{"trigger_mode":"click"}"#, on: "tryck/80e4da000001/set"),
                    .say(#"{"trigger_mode":"auto"}"#, on: "tryck/80e4da000001/set"),
                    .say("{}", on: "tryck/80e4da000003/get"), .say(text, on: "tryck/bridge/request/\(text)"),
                ])
            case .disk:
                odds(4) ? .refuge(any(RecordRefuge.allCases)) : .diskIsFull(odds(2))
            case .sync: any([.syncsAreSlow(true), .syncsAreSlow(false), .finishSyncs(true), .finishSyncs(false)])
            case .end:
                any([
                    .stop, .stop, .crash(for: .zero), .crash(for: .milliseconds(any(1...60_000) as Int64)),
                    .cutPower(for: .zero),
                    .cutPower(for: .milliseconds(any(1...60_000) as Int64)),
                    .dieWithin(effects: any(0...40), isPowerCut: false),
                    .dieWithin(effects: any(0...40), isPowerCut: false),
                    .dieWithin(effects: any(0...40), isPowerCut: true),
                ])
            case .clock:
                .setClock(forwardBy: .seconds(any([-86_400, -3600, -1, 1, 10, 3600, 86_400, 400_000_000]) as Int64))
            case .rules:
                any([
                    .reload(.usual), .reload(.other), .reload(.bad), .reload(.failing), .loadsAreSlow(true),
                    .loadsAreSlow(false), .finishLoads,
                ])
            case .program: any([.programsEnd(odds(2)), .endPrograms(exit: any([0, 0, 1]), saying: text)])
            case .request:
                .ask(
                    any([
                        #"{"request":"button/options","data":{"id":"kitchen","options":{"nickname":\#(JSONValue.string(text))}}}"#,
                        #"{"request":"button/rename","data":{"id":"porch","to":\#(JSONValue.string(text))}}"#,
                        #"{"request":"button/options","data":{"id":"hall","options":{"auto_disconnect_time":20}}}"#,
                        #"{"request":"button/options","data":{"id":"hall","options":{"latency_mode":"low"}}}"#,
                        #"{"request":"button/options","data":{"id":"desk","options":{"positions":{"slot_1":\#(any(0...100))}}}}"#,
                        #"{"request":"button/options","data":{"id":"desk","options":{"led_mode":"point","positions":{"free":0}}}}"#,
                        #"{"request":"button/options","data":{"id":"sofa","options":{"positions":{"big":9,"small":\#(any(0...100))}}}}"#,
                        #"{"request":"permit_join","data":{"time":5}}"#, #"{"request":"status"}"#, text,
                        #"{"request":"rules/reload","data":{"test":true}}"#,
                    ]))
            }
    }
}

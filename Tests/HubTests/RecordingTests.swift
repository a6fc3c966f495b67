import ButtonModel
import Expressions
import FlicdProtocol
import Gestures
import JSON
import Radios
import Rules
import TestSupport
import Testing

@testable import Buttons
@testable import Flic
@testable import Hub

@Suite("Lines of a recording")
struct RecordingTests {
    static let address = BluetoothAddress(rawValue: 0x80E4_DA00_0001)
    static let button = ButtonID(address)
    static let cursor = EventCursor(bootID: 0xDEAD_BEEF, eventCount: .max, smallEventCount: 7)
    static let identity = ButtonIdentity(
        address: address, uuid: String(repeating: "0f", count: 16), serial: "BA00-K00001", nickname: "Küche \"1\"",
        firmwareVersion: 11, model: .twist)

    /// An input of each kind, and several if a kind has several forms.
    static func inputs(_ kind: RecordedInput.Kind) -> [Hub.Input] {
        let client = Hub.ClientID(rawValue: 7)
        let flicdClient = FlicdServer.ClientID(rawValue: 8)
        return switch kind {
        case .start: [.start]
        case .wallClock: [.wallClock(UTCTime(milliseconds: -1)), .wallClock(UTCTime(milliseconds: 1_795_000_000_000))]
        case .transportOpened: [.transportOpened(), .transportOpened(RadioID(rawValue: 1))]
        case .received: [.received([])]
        // Read and never written.
        case .entropy: []
        case .transportClosed:
            [.transportClosed("it is gone."), .transportClosed("It is gone.", .failed, RadioID(rawValue: 15))]
        case .sourceConnected: [.source(1, .connected(bootID: .max))]
        case .sourceReceived: [.source(0, .received([])), .source(0, .received([0xFF, 0x00]))]
        case .sourceClosed: [.source(7, .closed("it is gone"))]
        case .brokerAddress: [.brokerAddress("mqtt://127.0.0.1:1")]
        case .brokerConnected: [.brokerConnected]
        case .brokerDisconnected: [.brokerDisconnected("\u{0}\n\u{7F}\u{2028}")]
        case .brokerSentMalformedPacket: [.brokerSentMalformedPacket]
        case .published: [.published(1)]
        case .publishFailed: [.publishFailed(MessageID(number: UInt64(Int64.max)), "")]
        case .messageReceived:
            [[], [0xFF, 0x00], Array("{ \"a\" :1.0 }".utf8)].map {
                .messageReceived(topicName: "a/b", payload: $0, retained: $0.isEmpty)
            }
        case .messageDropped: [.messageDropped("a message of 300000 octets on a/b was dropped")]
        case .subscriptionRefused: [.subscriptionRefused(topicFilter: "home/#", reason: "not authorized")]
        case .subscriptionGranted: [.subscriptionGranted(topicFilter: "home/#")]
        case .processEnded:
            [ProcessResult.Status.exited(3), .signalled(9), .couldNotStart("no such program")].map {
                .jobEnded(
                    5,
                    .process(
                        ProcessResult(
                            status: $0, standardOutput: Array("13:02\n".utf8), standardError: [0x80],
                            duration: .nanoseconds(1_234_567))))
            }
        case .webAnswered:
            [HTTPResult.Outcome.answered(status: 404), .failed("no such host")].map {
                .jobEnded(
                    5,
                    .http(
                        HTTPResult(outcome: $0, body: Array("gone".utf8), duration: .nanoseconds(12), note: "elsewhere")
                    ))
            }
        case .rulesLoaded:
            [
                .rulesLoaded(6, RuleLoadReport(set: nil, problems: [["code": "E301"]], summary: "unknown button")),
                .rulesLoaded(6, RuleLoadReport(set: nil, summary: "a test failed", failing: "0123456789abcdef")),
                .rulesLoaded(7, RuleLoadReport(set: nil, source: header.rules)),
            ]
        case .reloadRules: [.reloadRules]
        case .logLevel: [.logLevel(.warning)]
        case .firmwareFiles:
            [.firmwareFiles([]), .firmwareFiles([FirmwareFile(model: "flic2", version: .max)])]
        case .firmwareRead: [.firmwareRead(8, .octets([])), .firmwareRead(9, .failed("it is gone."))]
        case .recordFailed: RecordRefuge.allCases.map { .recordFailed(3, "no space", $0) }
        case .reserveFault: [.reserveFault("no space left for tryck.reserve"), .reserveFault(nil)]
        case .ringFault: [.ringFault("no space left for tryck.ring-1"), .ringFault(nil)]
        case .historyFault: [.historyFault("no space left"), .historyFault(nil)]
        case .synced: [.synced(4, true), .synced(4, false)]
        case .controlLine: [.controlLine(client, Array("{\"request\" : \"status\"}".utf8)), .controlLine(client, [])]
        case .clientGone: [.clientGone(client)]
        case .flicd:
            [
                .flicd(.listening("127.0.0.1:5551", warning: nil)), .flicd(.listening("0.0.0.0:1", warning: "open")),
                .flicd(.notListening("in use")),
                .flicd(.connected(flicdClient, peer: "[::1]:4")), .flicd(.received(flicdClient, [1, 0, 0, 255])),
                .flicd(.finished(flicdClient)), .flicd(.blocked(flicdClient)), .flicd(.drained(flicdClient)),
                .flicd(.gone(flicdClient)),
            ]
        case .timerFired: [.timerFired]
        case .stop: [.stop]
        case .expiringMessageReceived:
            [
                .expiringMessageReceived(
                    topicName: "s/feed/80e4da000001", payload: [0x7B], retained: false, remaining: .seconds(3599))
            ]
        }
    }

    static func reports(_ kind: ButtonReport.Kind) -> [ButtonReport] {
        kind == .known ? [.known(known)] : effects(kind).map(ButtonReport.effect)
    }

    static let known = KnownButton(
        identity: identity, pairing: .notRecorded, cursor: cursor, advertisingConfigured: true,
        settings: ButtonSettings(
            latencyMode: .low, autoDisconnectTime: 40, nicknameChosenAt: 1_795_000_000_000, isConnectionWanted: false,
            ledMode: .selector),
        dials: [.slot(3): 0, .free: Dial.unitsPerTurn])

    static func effects(_ kind: ButtonReport.Kind) -> [ButtonManager.Effect] {
        switch kind {
        case .known: []
        case .controllerReady:
            [
                .controllerReady(address),
                .controllerReady(BluetoothAddress(rawValue: 1, kind: .random), "ESPHome 2026.6", RadioID(rawValue: 3)),
            ]
        case .assigned: [.assigned(button, RadioID(rawValue: 2)), .assigned(button, nil)]
        case .home: [.homeChanged(button, RadioID(rawValue: 1))]
        case .linkLimit: [.linkLimit(RadioID(rawValue: 1), 3)]
        case .connectionMade: [.connectionMade(button, RadioID(rawValue: 1), after: .microseconds(20_300))]
        case .connectFailed: ConnectFailure.allCases.map { .connectFailed(RadioID(rawValue: 1), $0) }
        case .notificationLost: [.notificationLost(RadioID(rawValue: 1))]
        case .controllerFailed:
            [
                .controllerFailed("The adapter does not answer.", .failed),
                .controllerFailed("The adapter does not support Bluetooth LE.", .unsupported),
            ]
        case .controllerUnusable: [.controllerUnusable("Another program uses it.", .taken, RadioID(rawValue: 1))]
        case .pairing: progress.map(ButtonManager.Effect.pairing)
        case .paired:
            [.paired(known, batteryMillivolts: 2950)]
        case .unpaired: [.unpaired(button)]
        case .forgotten: [.forgotten(button)]
        case .state:
            [ButtonState.disconnected, .connecting, .connected, .ready, .disconnecting].map { .state(button, $0) }
        case .signal: [.signal(button, rssi: -128)]
        case .rebooted: [.rebooted(button, cursor)]
        case .events: [.events(button, events, cursor, needsAcknowledgement: true)]
        case .moved:
            [
                .moved(
                    button,
                    [
                        ButtonMovement(
                            button: button, part: .dial, steps: -3, position: 40, slot: 3, dial: .slot(3),
                            units: 19_660),
                        ButtonMovement(button: button, part: .big, steps: 0, wasQueued: true, age: .seconds(2)),
                    ])
            ]
        case .advertisingConfigured: [.advertisingConfigured(button)]
        case .battery: [.battery(button, millivolts: 3000)]
        case .firmware: [.firmware(button, version: .max)]
        case .model: [.model(button, .duo), .model(button, .twist)]
        case .nickname: [.nickname(button, "")]
        case .sessionFailed: [.sessionFailed(button, .invalidVerifier)]
        case .disconnected: [.disconnected(button, .other(0x3D))]
        case .firmwareUpdate:
            [FirmwareProgress.waiting, .transferring(percentage: 7), .finished, .failed(name: "a", advice: "B.")].map {
                .firmwareUpdate(button, $0)
            }
        case .allDisconnected: [.allDisconnected]
        case .waitingForSpace: [.buttonsWithoutLink([]), .buttonsWithoutLink([button])]
        case .abandoned: [.abandoned(address)]
        case .capacity: [.capacity(acceptListSize: 25, linkLimit: nil), .capacity(acceptListSize: 0, linkLimit: 5)]
        case .advertised:
            [
                .advertised(
                    ButtonAdvertisement(
                        address: address, name: "Flic å", rssi: -60, isPublic: true, isConnectedElsewhere: false)),
                .advertised(
                    ButtonAdvertisement(
                        address: address, name: "", rssi: nil, isPublic: false, isConnectedElsewhere: true)),
            ]
        case .anomaly: [.anomaly("it is odd")]
        }
    }

    static let progress: [PairingProgress] =
        [
            .searching, .foundPrivate(address), .foundPublic(address), .alreadyPaired(address), .connecting(address),
            .connected(address), .verifying(address), .paired(identity), .ended, .failed(.noNewButtonsFound, nil),
        ]
        + [
            PairingFailure.alreadyConnectedToOtherDevice, .connectionTimeout, .couldNotDiscoverServices, .connectFailed,
        ].map { .failed($0, address) }
        + [
            SessionFailure.verifyTimedOut, .appCredentialsDeniedByButton, .unexpectedAddress, .invalidCertificate,
            .invalidVerifier, .invalidCalculatedSignature, .quickVerifySignatureMismatch, .packetSignatureMismatch,
            .tooManyApps, .notInPublicMode, .fullVerifyFailedUnknown(reason: 200), .pairingExists,
            .sessionEnded(reason: 0), .attMTUTooSmall(119),
        ].map { .failed(.session($0), address) }

    static let events: [ButtonEvent] = [
        PressStep.down, .hold(ofSecondPress: false), .hold(ofSecondPress: true), .clickTimeout, .up(.open), .up(.click),
        .up(.doubleClick), .up(.afterHold), .up(.afterHoldClick), .up(.afterHoldDoubleClick),
    ].enumerated().map { index, step in
        ButtonEvent(
            button: button, bootID: 1, counter: UInt32(index), step: step, ticks: 1 << 40, wasQueued: index > 3,
            wasQueuedLast: index == 9, age: Duration(secondsComponent: 61, attosecondsComponent: 30_517_578_125_000),
            part: index == 0 ? nil : .small)
    }

    static func parsed(_ line: JSONValue) throws -> RecordingLine { try RecordingLine(parsing: line.encoded()) }

    @Test("a decoded input equals the recorded one", arguments: RecordedInput.Kind.allCases)
    func input(kind: RecordedInput.Kind) throws {
        for input in RecordingTests.inputs(kind) {
            let recorded = RecordedInput(at: Instant(nanoseconds: 123_456_789), input: input)
            let line = try recorded.line(hiding: Redaction([])).json
            #expect(line["input"] == .string(kind.rawValue))
            #expect(try RecordingTests.parsed(line) == .input(recorded))
        }
    }

    @Test("a decoded button report equals the recorded one", arguments: ButtonReport.Kind.allCases)
    func report(kind: ButtonReport.Kind) throws {
        for report in RecordingTests.reports(kind) {
            let recorded = RecordedInput(at: Instant(nanoseconds: 0), input: .received([]), reports: [report])
            let line = try recorded.line(hiding: Redaction([])).json
            #expect(line["reports"]?.arrayValue?.first?["report"] == .string(kind.rawValue))
            #expect(try RecordingTests.parsed(line) == .input(recorded))
        }
    }

    @Test("a report that only earlier versions recorded is left out")
    func formerReport() throws {
        let line =
            #"{"at_ns":0,"input":"received","reports":[{"report":"queue_drained","button":"80e4da000001"},"#
            + #"{"report":"signal","button":"80e4da000001","rssi":-60}]}"#
        #expect(
            try RecordingLine(parsing: Array(line.utf8))
                == .input(
                    RecordedInput(
                        at: Instant(nanoseconds: 0), input: .received([]),
                        reports: [.effect(.signal(RecordingTests.button, rssi: -60))])))
    }

    @Test("effects for the radio and the timer are not recorded")
    func noReports() throws {
        let recorded = RecordedInput(
            at: Instant(nanoseconds: 0), input: .timerFired,
            reports: [.send([1, 2, 3]), .setTimer(Instant(nanoseconds: 5)), .cancelTimer, .needsEntropy].map(
                ButtonReport.effect))
        let line = recorded.line(hiding: Redaction([]))
        #expect(try line.json == ["at_ns": 0, "input": "timer_fired"])
        #expect(!line.hasConsequences)
    }

    @Test("the octets of any line are those of its value", arguments: 0..<200 as Range<UInt64>)
    func octets(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        func number<Number: FixedWidthInteger & UnsignedInteger>() -> Number {
            // Numbers of all lengths.
            Number(truncatingIfNeeded: random.next() >> UInt64.random(in: 0...63, using: &random))
        }
        func age() -> Duration {
            Duration(
                secondsComponent: Int64(number() as UInt32), attosecondsComponent: Int64(number() as UInt32) << 25)
        }
        func part() -> ButtonPart? { [nil, .big, .small].randomElement(using: &random) ?? nil }
        func movement() -> ButtonMovement {
            ButtonMovement(
                button: Self.button, part: part() ?? .dial, steps: Int(Int32(bitPattern: number())),
                position: .init(truncatingIfNeeded: number() as UInt64),
                slot: .init(truncatingIfNeeded: number() as UInt64),
                dial: [nil, .free, .slot(3)].randomElement(using: &random) ?? nil,
                units: .init(truncatingIfNeeded: number() as UInt64), wasQueued: .random(using: &random),
                wasQueuedLast: .random(using: &random), age: age())
        }
        func event() -> ButtonEvent {
            var event = Self.events.randomElement(using: &random) ?? Self.events[0]
            (event.bootID, event.counter, event.ticks) = (number(), number(), number())
            (event.age, event.part) = (age(), part())
            event.swipe = SwipeDirection.allCases.randomElement(using: &random)
            return event
        }
        func report() -> ButtonReport {
            switch Int.random(in: 0..<5, using: &random) {
            case 0: .effect(.moved(Self.button, (0..<Int.random(in: 0...3, using: &random)).map { _ in movement() }))
            case 1:
                .effect(
                    .events(
                        Self.button, (0..<Int.random(in: 0...3, using: &random)).map { _ in event() },
                        Self.cursor,
                        needsAcknowledgement: .random(using: &random)))
            case 2:
                .effect(
                    [.send([1]), .setTimer(Instant(nanoseconds: 5)), .cancelTimer, .needsEntropy]
                        .randomElement(using: &random) ?? .cancelTimer)
            default:
                ButtonReport.Kind.allCases.flatMap { Self.reports($0) }.randomElement(using: &random)
                    ?? .known(Self.known)
            }
        }
        let input = RecordedInput.Kind.allCases.flatMap(Self.inputs).randomElement(using: &random) ?? .start
        var recorded = RecordedInput(at: Instant(nanoseconds: Int64(number() as UInt32)), input: input)
        recorded.reports = (0..<Int.random(in: 0...4, using: &random)).map { _ in report() }
        recorded.started = (0..<Int.random(in: 0...2, using: &random)).map { _ in
            RecordedJob(id: JobID(rawValue: number()), fingerprint: "00ff\"")
        }
        recorded.isRepeated = .random(using: &random)
        let redaction = Redaction(
            Bool.random(using: &random) ? [] : ["gone", "80e4da000001", "Küche", "1795000000000"])
        let (line, value) = (recorded.line(hiding: redaction), recorded.json(hiding: redaction))
        #expect(line.octets == value.encoded())
        #expect(line.hasConsequences == (value["reports"] != nil || value["started"] != nil))
    }

    @Test("a pairing is written without its key")
    func pairing() throws {
        let key = try #require(PairingKey(Array(0x61...0x70)))
        let known = KnownButton(identity: RecordingTests.identity, pairing: Pairing(identifier: 77, key: key))
        let line = try RecordedInput(
            at: Instant(nanoseconds: 0), input: .received([]),
            reports: [.effect(.paired(known, batteryMillivolts: 3000))]
        ).line(hiding: Redaction([])).json
        #expect(!line.description.contains("abcdefghijklmnop"))
        #expect(!line.description.contains("77"))
        guard case .input(let recorded) = try RecordingTests.parsed(line),
            case .effect(.paired(let paired, _)) = recorded.reports.first
        else {
            Issue.record("no pairing in \(line)")
            return
        }
        #expect(paired.identity == RecordingTests.identity)
        #expect(paired.pairing == .notRecorded)
    }

    static let header = RecordingHeader(
        startedAt: UTCTime(milliseconds: 1_795_000_000_000),
        configuration: HubConfiguration(
            version: "9", commit: "abcdef0", baseTopic: "house", discoveryPrefix: "ha",
            homeAssistantStatusTopic: "ha/there", homepage: "https://example.org/tryck", trustRootNames: ["ab…"],
            radios: [ConfiguredRadio("hci:0", kind: .local(maximumLinks: 3)), ConfiguredRadio("bluez", name: "attic")],
            broker: "mqtt://b:1883",
            control: .all, logLevel: .debug, stateDirectory: "/s", builtAt: UTCTime(milliseconds: 12), ruleFault: "bad",
            ruleProblems: [["code": "E101", "line": 3]], lostState: "gone", ringWarning: "not in memory",
            hasMetrics: true, simulatedButtons: ["hall"]),
        rules: RecordedRules(
            files: [
                .init(name: "r.yaml", text: Array("version: 1\n".utf8)), .init(name: "s.yaml", text: []),
            ], forbiddenSteps: [.shell, .http], timeZones: ["Here": [0x54, 0xFF]], systemTimeZone: "Here"),
        stored: StoredState(
            installationID: "5a1f", nextRun: 9,
            buttons: [
                StoredButton(
                    identity: identity, name: "kitchen", pairing: .notRecorded, pairedAt: UTCTime(milliseconds: 5),
                    cursor: cursor, isAdvertisingConfigured: true, batteryMillivolts: 2900,
                    batteryMeasuredAt: UTCTime(milliseconds: 6), pressCount: 4, sequence: 8, publishWatermark: 6,
                    triggerMode: .click,
                    settings: known.settings, isBatteryLow: true, lastSeen: UTCTime(milliseconds: 7), home: "attic",
                    recogniser: "d"),
                StoredButton(identity: identity, pairing: .notRecorded, pairedAt: UTCTime(milliseconds: 0)),
            ],
            runs: [
                StoredRun(id: 8, rule: "r", button: button, event: cursor, startedAt: UTCTime(milliseconds: 7)),
                StoredRun(id: 9, rule: "r", button: nil, event: cursor, startedAt: UTCTime(milliseconds: 8)),
            ], rules: ruleState))

    static let cause: RunCause = {
        var facts = TriggerFacts()
        facts.id = "next"
        facts.button = "kitchen"
        facts.event = "clicks_3"
        facts.part = .big
        facts.clicks = 3
        facts.heldFor = .milliseconds(1500)
        facts.wasQueued = true
        facts.age = .seconds(2)
        facts.at = "2026-03-29T01:30:00+01:00"
        return RunCause(button: button, facts: facts, at: UTCTime(milliseconds: 9))
    }()

    static let ruleState = RuleState(
        variables: ["a": .boolean(true), "b": .integer(-1), "c": .number(0.5), "d": .string("x"), "e": .number(2)],
        cycles: ["r/actions[0].cycle": CyclePosition(next: 2, at: UTCTime(milliseconds: 3))],
        enabled: ["r": EnabledOverride(isEnabled: false, inFile: true)],
        cooldowns: [
            Cooldown(rule: "r", endsAt: UTCTime(milliseconds: 4)),
            Cooldown(rule: "s", button: button, endsAt: UTCTime(milliseconds: 5)),
        ],
        waitingRuns: [
            WaitingRun(
                run: RunID(rawValue: 8), rule: "r", fingerprint: "0123456789abcdef", cause: cause,
                endsAt: UTCTime(milliseconds: 6), saved: "{}")
        ],
        keptEvents: [
            KeptEvent(
                rule: "r", fingerprint: "0123456789abcdef", trigger: 1, button: button, number: 2, cause: cause,
                hold: .init(wasQueued: true, age: .seconds(3)))
        ])

    static func header(radio: String) -> String {
        header.json(hiding: Redaction([])).description.dropLast() + #","radio":\#(radio)}"#
    }

    @Test("a decoded header equals the recorded one, with and without rules")
    func wholeHeader() throws {
        var header = RecordingTests.header
        #expect(try RecordingTests.parsed(header.json(hiding: Redaction([]))) == .header(header))
        header.rules = nil
        #expect(try RecordingTests.parsed(header.json(hiding: Redaction([]))) == .header(header))
    }

    @Test("in a recording without publish watermarks, all messages count as published")
    func olderHeader() throws {
        let line = RecordingTests.header.json(hiding: Redaction([])).description
        guard
            case .header(let header) = try RecordingLine(parsing: Array(line.replacing(#""heard":6,"#, with: "").utf8))
        else {
            Issue.record("no header")
            return
        }
        #expect(header.stored.buttons.map(\.publishWatermark) == [8, 0])
        #expect(RecordingTests.header.stored.buttons.map(\.publishWatermark) == [6, 0])
    }

    @Test("a new property must be recorded, unless no decision depends on it, and must be added here")
    func fields() {
        func names(_ value: Any) -> [String] { Mirror(reflecting: value).children.compactMap(\.label) }
        let stored = RecordingTests.header.stored
        #expect(
            names(RecordingTests.header.configuration) == [
                "version", "commit", "baseTopic", "discoveryPrefix", "homeAssistantStatusTopic", "pageURL",
                "homepage", "extraTrustRoots",
                "trustRootNames", "radios", "sources", "broker", "hasBroker",
                "control", "logLevel", "processEnvironment", "stateDirectory", "builtAt", "ruleFault", "ruleProblems",
                // A recording has none of these values.
                "refusedValues",
                // Only messages name it.
                "missingRulesPath",
                "lostState", "ringWarning", "capture", "hasMetrics", "simulatedButtons",
                // A replay presses no button.
                "simulatedIdentities", "flicdListen",
                // Feeds of sites are not replayed.
                "engine", "uplink",
            ])
        #expect(names(stored) == ["installationID", "nextRun", "buttons", "runs", "rules", "feed"])
        #expect(
            names(stored.buttons[0]) == [
                "identity", "name", "pairing", "source", "pairedAt", "cursor", "syncedCursor",
                "isAdvertisingConfigured",
                "batteryMillivolts", "batteryPercentage", "batteryMeasuredAt", "batteryTrend", "pressCount",
                "sequence", "publishWatermark",
                "triggerMode", "settings", "dials",
                "isBatteryLow", "lastSeen", "home", "recogniser",
            ])
        #expect(names(stored.runs[0]) == ["id", "rule", "button", "event", "startedAt"])
        #expect(
            names(KnownButton(identity: RecordingTests.identity, pairing: .notRecorded)) == [
                "identity", "pairing", "cursor", "deliveredBeforeStart", "advertisingConfigured", "settings", "dials",
            ])
        #expect(
            names(RecordingTests.known.settings) == [
                "latencyMode", "autoDisconnectTime", "nicknameChosenAt", "isConnectionWanted", "ledMode",
            ])
        #expect(
            names(RecordingTests.identity) == ["address", "uuid", "serial", "nickname", "firmwareVersion", "model"])
        #expect(
            names(RecordingTests.events[0]) == [
                "button", "bootID", "counter", "step", "ticks", "wasQueued", "wasQueuedLast", "age", "part", "swipe",
                "isTimeRough",
            ])
    }

    @Test("the beginning and the length of a long payload are recorded")
    func longPayload() throws {
        let bound = Recording.maximumOctets
        let long = [UInt8](repeating: 0x41, count: bound + 1)
        let whole = JSONValue(octets: Array(long.dropLast()), hiding: Redaction([]))
        #expect(whole.stringValue?.utf8.count == bound)
        let cut = JSONValue(octets: long, hiding: Redaction([]))
        #expect(cut["length"] == .integer(Int64(bound) + 1))
        #expect(try JSONValue.object([.init("x", cut)]).octets("x") == Array(long.dropLast()))
        let binary = JSONValue(octets: [0xFF] + long, hiding: Redaction([]))
        #expect(try JSONValue.object([.init("x", binary)]).octets("x").count == bound)
    }

    @Test("the secrets of rules that were refused before the start are in no line")
    func secretsOfRefusedRules() throws {
        let configuration = HubConfiguration(
            version: "0", refusedValues: ConfidentialValues(["copper-4711"], marks: ["copper-4711": "***word***"]))
        let stored = StoredState(installationID: "00ff")
        var hub = Hub(configuration, stored: stored, rules: RuleSet())
        let now = Instant(nanoseconds: 0)
        let startedAt = UTCTime(milliseconds: 1_795_000_000_000)
        _ = hub.beginRecording(
            RecordingHeader(startedAt: startedAt, configuration: configuration, stored: stored), at: now)
        let line = hub.recordedLine(.brokerDisconnected("it said copper-4711"), at: now)
        #expect(try line?.json["reason"] == "it said ***word***")
    }

    @Test("an ended recording gets no more lines, and no reports are collected for it")
    func ended() throws {
        var hub = Hub(RecordingTests.header.configuration, stored: RecordingTests.header.stored, rules: RuleSet())
        let now = Instant(nanoseconds: 7)
        _ = hub.beginRecording(RecordingTests.header, hiding: ["", "hci"], at: now)
        _ = hub.handleChecked(.transportClosed("hci:0 is gone"), at: now)
        let line = hub.recordedLine(.transportClosed("hci:0 is gone"), at: now)
        #expect(try line?.json["reason"] == "***:0 is gone")
        _ = hub.handleChecked(.start, at: now)
        hub.endRecording()
        _ = hub.handleChecked(.transportOpened(), at: now)
        #expect(hub.recordedLine(.transportOpened(), at: now) == nil)
        #expect(!hub.buttonSource.hasReports)
    }

    @Test("a history needs no line for the answers of the broker, and no reports are left for the next line")
    func historyLines() {
        var hub = Hub(RecordingTests.header.configuration, stored: RecordingTests.header.stored, rules: RuleSet())
        let now = Instant(nanoseconds: 7)
        _ = hub.beginRecording(RecordingTests.header, isExact: false, at: now)
        for (input, isKept) in [(Hub.Input.start, true), (.timerFired, false), (.published(1), false)] {
            _ = hub.handleChecked(input, at: now)
            #expect((hub.recordedLine(input, isForHistory: true, at: now) != nil) == isKept)
            #expect(!hub.buttonSource.hasReports)
        }
        _ = hub.handleChecked(.published(1), at: now)
        #expect(hub.recordedLine(.published(1), at: now) != nil)
    }

    @Test("a newer format is refused with advice, and an unknown member is ignored")
    func versions() throws {
        #expect(throws: RecordingFailure.newerVersion(3)) {
            try RecordingLine(parsing: Array(#"{"format":"tryck-recording","version":3,"new":[]}"#.utf8))
        }
        #expect("\(RecordingFailure.newerVersion(3))".contains("newer tryck"))
        let line = #"{"moon":1,"at_ns":0,"input":"start","reports":[]}"#
        #expect(
            try RecordingLine(parsing: Array(line.utf8))
                == .input(RecordedInput(at: Instant(nanoseconds: 0), input: .start)))
    }

    @Test(
        "an invalid line is refused with the reason",
        arguments: [
            ("{}", RecordingFailure.notARecording), ("[]", .notARecording), ("7", .notARecording),
            (#"{"format":"btsnoop"}"#, .notARecording),
            (#"{"format":"tryck-recording"}"#, .badMember("version")),
            (#"{"format":"tryck-recording","version":0}"#, .badMember("version")),
            (#"{"format":"tryck-recording","version":1}"#, .badMember("started_at_ms")),
            (RecordingTests.header(radio: "{}"), .badMember("trust_roots")),
            (RecordingTests.header(radio: #"{"trust_roots":[[256]],"pairings":[]}"#), .badMember("trust_roots")),
            (
                RecordingTests.header(
                    radio: #"{"trust_roots":[],"pairings":[{"button":"80e4da000009","identifier":1,"key":[]}]}"#),
                .badMember("pairings")
            ),
            (#"{"input":"fly","at_ns":0}"#, .badMember("input")),
            (#"{"input":"start"}"#, .badMember("at_ns")),
            (#"{"input":"start","at_ns":1.5}"#, .badMember("at_ns")),
            (#"{"input":"start","at_ns":0,"reports":{}}"#, .badMember("reports")),
            (#"{"input":"published","at_ns":0,"id":-1}"#, .badMember("id")),
            (#"{"input":"synced","at_ns":0,"id":1,"success":1}"#, .badMember("success")),
            (#"{"input":"control_line","at_ns":0,"client":1,"line":[256]}"#, .badMember("line")),
            (#"{"input":"received","at_ns":0,"reports":[{"report":"fly"}]}"#, .badMember("report")),
            (
                #"{"input":"received","at_ns":0,"reports":[{"report":"state","button":"x","state":"ready"}]}"#,
                .badMember("button")
            ),
            (
                #"{"input":"received","at_ns":0,"reports":[{"report":"signal","button":"80e4da000001","rssi":128}]}"#,
                .badMember("rssi")
            ),
        ])
    func wrong(line: String, failure: RecordingFailure) {
        #expect(throws: failure) { try RecordingLine(parsing: Array(line.utf8)) }
    }

    @Test("no octets make the reader trap", arguments: 1...200 as ClosedRange<UInt64>)
    func hostile(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let lines = [
            RecordingTests.header.json(hiding: Redaction([])),
            RecordedInput(
                at: Instant(nanoseconds: 1), input: .received([]),
                reports: ButtonReport.Kind.allCases.flatMap(RecordingTests.reports)
            ).json(hiding: Redaction([])),
        ]
        for line in lines {
            var octets = line.encoded()
            for _ in 0..<Int.random(in: 1...4, using: &random) where !octets.isEmpty {
                let index = Int.random(in: 0..<octets.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: octets[index] = UInt8.random(in: 0x20...0x7E, using: &random)
                case 1: octets.removeSubrange(index...)
                default: octets.insert(UInt8(ascii: "9"), at: index)
                }
            }
            guard case .input(let recorded)? = try? RecordingLine(parsing: octets) else { continue }
            var hub = Hub(replaying: RecordingTests.header, rules: RuleSet())
            _ = hub.replay(recorded)
        }
    }
}

extension RecordedLine {
    /// The value of the line.
    var json: JSONValue { get throws { try JSONValue(parsing: octets) } }
}

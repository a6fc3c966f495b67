import ButtonModel
import Radios
import TestSupport
import Testing

/// Conversations of `BlueZRadio` with bluetoothd.
///
/// - Source: the order of bluetoothd's messages was seen with BlueZ 5.66 and virtual controllers.
@Suite("A radio that BlueZ shares")
struct BlueZRadioTests {
    private static let hall = ExpectedButton(BlueZTalk.hall, .flic2)
    private static let signals: [String: BusValue] = [
        "RSSI": .integer(-60), "UUIDs": .list(BlueZTalk.services.map { .string($0) }),
        "ManufacturerData": .dictionary(["783": .octets([1, 0x7B, 0, 1, 0])]), "Name": .string("Flic"),
    ]

    // MARK: Start and end

    @Test("the adapter that is powered is used, once it lets programs register")
    func start() {
        var talk = BlueZTalk()
        talk.when(.busOpened(.any))
        talk.calls(.getManagedObjects)
        talk.answers(.objects(BlueZTalk.objects(hasManager: false)))
        talk.when(.bus(.interfacesAdded(BlueZTalk.adapter, ["org.bluez.GattManager1": [:]])))
        talk.calls(.registerApplication(adapter: BlueZTalk.adapter))
        talk.answers(.success)
        talk.reports(.ready(BlueZTalk.info))
        talk.wait(.seconds(120))
        talk.ends()
    }

    @Test("an adapter that never lets programs register is a failure after ten seconds")
    func neverReady() {
        var talk = BlueZTalk()
        talk.when(.busOpened(.any))
        talk.calls(.getManagedObjects)
        talk.answers(.objects(BlueZTalk.objects(hasManager: false)))
        talk.wait(.seconds(11))
        talk.reports(
            .failed(
                "BlueZ does not let programs use the adapter. Restart it: `sudo systemctl restart bluetooth`.", .failed)
        )
        talk.ends()
    }

    @Test(
        "a refused start says what to do",
        arguments: [
            ("org.freedesktop.DBus.Error.NameHasNoOwner", "BlueZ is not running.", AdapterFault.absent),
            ("org.freedesktop.DBus.Error.ServiceUnknown", "BlueZ is not running.", .absent),
            ("org.freedesktop.DBus.Error.AccessDenied", "This account may not speak to BlueZ.", .unauthorized),
            ("org.bluez.Error.NotReady", "The adapter is off.", .absent),
            ("org.bluez.Error.Failed", "BlueZ refuses to work: org.bluez.Error.Failed", .failed),
        ])
    func refused(error: String, sentence: String, fault: AdapterFault) {
        var talk = BlueZTalk()
        talk.when(.busOpened(.any))
        talk.calls(.getManagedObjects)
        talk.answers(.error(error))
        guard case .event(.failed(let advice, fault))? = talk.effects.first else {
            Issue.record("\(talk.effects)")
            return
        }
        #expect(advice.hasPrefix(sentence))
    }

    @Test(
        "the chosen adapter must exist and be on",
        arguments: [
            (BlueZAdapterChoice.index(0), true, true), (.index(1), true, false), (.address(BlueZTalk.own), true, true),
            (.address(BlueZTalk.hall), true, false), (.any, false, false), (.index(0), false, false),
        ])
    func choice(choice: BlueZAdapterChoice, isPowered: Bool, isUsed: Bool) {
        var talk = BlueZTalk()
        talk.when(.busOpened(choice))
        talk.calls(.getManagedObjects)
        talk.answers(.objects(BlueZTalk.objects(isPowered: isPowered)))
        if isUsed {
            talk.calls(.registerApplication(adapter: BlueZTalk.adapter))
        } else if case .event(.failed(_, .absent))? = talk.effects.first {
        } else {
            Issue.record("\(talk.effects)")
        }
    }

    @Test(
        "bluetoothd ends, or the adapter is switched off or gone: all links end, and the radio waits to be opened again"
    )
    func lost() {
        let losses: [BusInput] = [
            .ownerLost, .interfacesRemoved(BlueZTalk.adapter, ["org.bluez.Adapter1"]),
            .propertiesChanged(
                BlueZTalk.adapter, interface: "org.bluez.Adapter1", ["Powered": .bool(false)], invalidated: []),
        ]
        for loss in losses {
            var (talk, id) = BlueZTalk.attached()
            talk.when(.bus(loss))
            talk.does(.closeChannels(id))
            talk.reports(.disconnected(id, .connectionTimeout))
            guard case .event(.failed(_, .absent))? = talk.effects.first else {
                Issue.record("\(loss): \(talk.effects)")
                continue
            }
        }
    }

    @Test("what is closed is begun anew, with what is to be expected")
    func again() {
        var (talk, id) = BlueZTalk.attached()
        talk.when(.closed)
        talk.does(.closeChannels(id))
        talk.reports(.disconnected(id, .connectionTimeout))
        talk.when(.busOpened(.any))
        talk.calls(.getManagedObjects)
        talk.answers(.objects(BlueZTalk.objects(and: BlueZTalk.known(["Connected": .bool(true)]))), isLast: true)
        talk.calls(.registerApplication(adapter: BlueZTalk.adapter))
        talk.answers(.success, isLast: true)
        talk.reports(.ready(BlueZTalk.info))
        let next = talk.connects()
        #expect(next > id)
        talk.ends()
    }

    @Test("of two adapters, the one that is on is used, unless another is chosen")
    func secondAdapter() {
        let second = "/org/bluez/hci1"
        let objects = BlueZTalk.objects(
            isPowered: false,
            and: [
                second: [
                    "org.bluez.Adapter1": ["Address": .string("00:1A:7D:DA:71:14"), "Powered": .bool(true)],
                    "org.bluez.GattManager1": [:],
                ]
            ])
        var talk = BlueZTalk()
        talk.when(.busOpened(.any))
        talk.calls(.getManagedObjects)
        talk.answers(.objects(objects))
        talk.calls(.registerApplication(adapter: second))
        talk.ends()
    }

    // MARK: A button that is known

    @Test("a press connects a trusted button, and the link is attached when both characteristics are acquired")
    func press() {
        var talk = BlueZTalk.ready(BlueZTalk.objects(and: BlueZTalk.known()), expecting: [Self.hall])
        talk.changes(["Connected": .bool(true)])
        let id = talk.connects()
        talk.when(.perform(.write(id, [1])))
        talk.changes(["ServicesResolved": .bool(true)])
        talk.calls(.acquireNotify(characteristic: BlueZTalk.notify, id))
        talk.calls(.acquireWrite(characteristic: BlueZTalk.write, id))
        // The answer to what is written now would be lost.
        talk.answers(.acquired(100), isLast: true)
        talk.when(.perform(.write(id, [1])))
        talk.answers(.acquired(140))
        talk.reports(.attached(id, .flic2, attMTU: 100))
        talk.when(.perform(.write(id, [1, 2])))
        talk.does(.write(id, [1, 2]))
        talk.when(.bus(.received(id, [3])))
        talk.reports(.notified(id, [3]))
        talk.wait(.seconds(3600))
        talk.ends()
    }

    @Test(
        "a trusted button whose services bluetoothd had stored when Tryck started is not connected by Tryck, and a press attaches it",
        arguments: [false, true])
    func knownBefore(isExpectedLater: Bool) {
        var talk = BlueZTalk.ready(
            BlueZTalk.objects(and: BlueZTalk.known()), expecting: isExpectedLater ? [] : [Self.hall])
        if isExpectedLater { talk.when(.perform(.expect([Self.hall], unwanted: []))) }
        talk.wait(.seconds(3600))
        talk.changes(["Connected": .bool(true), "ServicesResolved": .bool(true)])
        let id = talk.connects()
        talk.acquires(id)
        talk.ends()
    }

    @Test("a button that was connected, with its services resolved, before Tryck started is attached at once")
    func connectedBefore() {
        var talk = BlueZTalk.ready(
            BlueZTalk.objects(
                and: BlueZTalk.known(["Connected": .bool(true), "ServicesResolved": .bool(true)])),
            expecting: [Self.hall])
        let id = talk.connects()
        talk.acquires(id)
        // Nothing but the next link is needed after this one: bluetoothd makes it by itself.
        talk.changes(["Connected": .bool(false), "ServicesResolved": .bool(false)])
        talk.does(.closeChannels(id))
        talk.reports(.disconnected(id, .unknown))
        talk.wait(.seconds(3600))
        talk.ends()
    }

    @Test("a button with the other service is attached to that")
    func otherService() {
        var talk = BlueZTalk.ready(
            BlueZTalk.objects(and: BlueZTalk.known()), expecting: [ExpectedButton(BlueZTalk.hall, .twist)])
        talk.changes(["Connected": .bool(true), "ServicesResolved": .bool(true)])
        let id = talk.connects()
        talk.calls(.acquireNotify(characteristic: BlueZTalk.notify, id))
        talk.calls(.acquireWrite(characteristic: BlueZTalk.write, id))
        talk.answers(.acquired(140))
        talk.answers(.acquired(140))
        talk.reports(.attached(id, .flic2, attMTU: 140))
        talk.ends()
    }

    @Test("a button without a service of Flic cannot be attached")
    func noService() {
        var talk = BlueZTalk.ready(
            BlueZTalk.objects(and: [
                BlueZTalk.hallPath: BlueZTalk.device(
                    BlueZTalk.hall,
                    ["Trusted": .bool(true), "UUIDs": .list(BlueZTalk.services.map { .string($0) })])
            ]),
            expecting: [Self.hall])
        talk.changes(["Connected": .bool(true)])
        let id = talk.connects()
        talk.changes(["ServicesResolved": .bool(true)])
        talk.warns("no Flic service")
        talk.does(.closeChannels(id))
        talk.reports(.attachFailed(id))
        talk.when(.perform(.disconnect(id)))
        talk.does(.closeChannels(id))
        talk.calls(.disconnect(device: BlueZTalk.hallPath))
        talk.when(.perform(.expect([], unwanted: [])))
        talk.changes(["Connected": .bool(false)])
        talk.does(.closeChannels(id))
        talk.reports(.disconnected(id, .localHostTerminated))
        talk.ends()
    }

    @Test("a link whose services are never resolved, as after a crash of bluetoothd, is ended after ten seconds")
    func neverResolved() {
        var talk = BlueZTalk.ready(
            BlueZTalk.objects(and: BlueZTalk.known(["Connected": .bool(true)])), expecting: [Self.hall])
        let id = talk.connects()
        talk.wait(.seconds(11))
        talk.warns("did not find its services")
        talk.disconnectsHall(id)
        talk.ends()
    }

    @Test("links of BlueZ to buttons are found among its objects, with their adapters and whether a program holds them")
    func buttonLinks() {
        func links(_ device: [String: BusValue], _ held: [String: BusValue], of path: String = BlueZTalk.notify)
            -> [BlueZButtonLink]
        {
            var objects = BlueZTalk.objects(and: BlueZTalk.known(device))
            objects[path]?["org.bluez.GattCharacteristic1"]?.merge(held) { $1 }
            objects["/org/bluez/hci0/dev_00_11"] = BlueZTalk.device(
                BluetoothAddress(rawValue: 0x0011_2233_4455), ["Connected": .bool(true)])
            return BlueZButtonLink.all(among: objects)
        }
        let connected: [String: BusValue] = ["Connected": .bool(true)]
        func link(isHeld: Bool) -> [BlueZButtonLink] {
            [BlueZButtonLink(address: BlueZTalk.hall, adapter: "hci0", isHeld: isHeld)]
        }
        #expect(links([:], ["NotifyAcquired": .bool(true)]).isEmpty)
        #expect(links(connected, ["NotifyAcquired": .bool(false)]) == link(isHeld: false))
        #expect(links(connected, ["NotifyAcquired": .bool(true)]) == link(isHeld: true))
        #expect(links(connected, ["Notifying": .bool(true)]) == link(isHeld: true))
        #expect(links(connected, ["WriteAcquired": .bool(true)], of: BlueZTalk.write) == link(isHeld: true))
    }

    @Test("a button that another program uses is left to it")
    func heldElsewhere() {
        var talk = BlueZTalk.ready(BlueZTalk.objects(and: BlueZTalk.known()), expecting: [Self.hall])
        talk.changes(["Connected": .bool(true), "ServicesResolved": .bool(true)])
        let id = talk.connects()
        talk.calls(.acquireNotify(characteristic: BlueZTalk.notify, id))
        talk.calls(.acquireWrite(characteristic: BlueZTalk.write, id))
        talk.answers(.error("org.bluez.Error.NotPermitted", "Notify acquired"))
        talk.warns("another program on this machine uses the button")
        talk.does(.closeChannels(id))
        talk.reports(.disconnected(id, .unknown))
        // The descriptor that comes late is closed.
        talk.answers(.acquired(140))
        talk.does(.closeChannels(id))
        // It is tried again when the button has a new link.
        talk.changes(["Connected": .bool(false), "ServicesResolved": .bool(false)])
        talk.changes(["Connected": .bool(true), "ServicesResolved": .bool(true)])
        let next = talk.connects()
        talk.calls(.acquireNotify(characteristic: BlueZTalk.notify, next))
        talk.calls(.acquireWrite(characteristic: BlueZTalk.write, next))
        talk.ends()
    }

    @Test(
        "a button that another program holds is tried again when that program releases it, and not when Tryck does",
        arguments: [true, false])
    func release(isNotifyRefused: Bool) {
        var talk = BlueZTalk.ready(BlueZTalk.objects(and: BlueZTalk.known()), expecting: [Self.hall])
        talk.changes(["Connected": .bool(true), "ServicesResolved": .bool(true)])
        let id = talk.connects()
        talk.calls(.acquireNotify(characteristic: BlueZTalk.notify, id))
        talk.calls(.acquireWrite(characteristic: BlueZTalk.write, id))
        talk.answers(.error("org.bluez.Error.NotPermitted"), isLast: !isNotifyRefused)
        talk.warns("another program on this machine uses the button")
        talk.does(.closeChannels(id))
        talk.reports(.disconnected(id, .unknown))
        talk.answers(.acquired(140))
        talk.does(.closeChannels(id))
        func release(_ property: String, of path: String) {
            talk.changes([property: .bool(false)], of: path, interface: "org.bluez.GattCharacteristic1")
        }
        let (own, refused) = ("WriteAcquired", "Notifying")
        release(isNotifyRefused ? own : "NotifyAcquired", of: isNotifyRefused ? BlueZTalk.write : BlueZTalk.notify)
        release(isNotifyRefused ? refused : own, of: isNotifyRefused ? BlueZTalk.notify : BlueZTalk.write)
        let next = talk.connects()
        talk.calls(.acquireNotify(characteristic: BlueZTalk.notify, next))
        talk.calls(.acquireWrite(characteristic: BlueZTalk.write, next))
        talk.ends()
    }

    @Test("after a refused Disconnect, a new connection waits 5 s if the link is still there, and not if it has ended")
    func refusedDisconnect() {
        for hasEnded in [true, false] {
            var talk = BlueZTalk.ready(BlueZTalk.objects(and: BlueZTalk.known(["Trusted": .bool(false)])))
            talk.changes(["Connected": .bool(true)])
            talk.when(.perform(.expect([], unwanted: [BlueZTalk.hall])))
            talk.calls(.disconnect(device: BlueZTalk.hallPath))
            if hasEnded { talk.changes(["Connected": .bool(false)]) }
            talk.answers(.error("org.bluez.Error.NotConnected"))
            talk.when(.perform(.expect([Self.hall], unwanted: [])))
            if hasEnded {
                talk.calls(.setTrusted(device: BlueZTalk.hallPath))
                talk.calls(.connect(device: BlueZTalk.hallPath))
            } else {
                _ = talk.connects()
            }
            talk.ends()
        }
    }

    // MARK: A button that BlueZ must not connect

    @Test(
        "a button of another radio, or that users disconnected, is parked, stays trusted, and is armed when it may come here",
        arguments: [true, false])
    func parked(isElsewhere: Bool) {
        var talk = BlueZTalk.ready(BlueZTalk.objects(and: BlueZTalk.known()), expecting: [Self.hall])
        talk.when(
            .perform(
                .expect(
                    [], unwanted: isElsewhere ? [] : [BlueZTalk.hall], elsewhere: isElsewhere ? [BlueZTalk.hall] : []))
        )
        talk.parks()
        for isTrusted in [false, true] { talk.changes(["Trusted": .bool(isTrusted)]) }
        for _ in 0..<3 { talk.answers(.success) }
        talk.wait(.seconds(60))
        talk.when(.perform(.expect([Self.hall], unwanted: [])))
        talk.arms()
        talk.answers(.error("org.bluez.Error.Failed", "br-connection-canceled"))
        talk.answers(.success)
        // BlueZ connects it by itself again.
        talk.wait(.seconds(60))
        talk.changes(["Connected": .bool(true)])
        _ = talk.connects()
        talk.ends()
    }

    @Test("parked buttons are armed one after the other, also during a search, and before a button that was not heard")
    func severalParked() {
        let stairs = [
            Self.stairsPath: BlueZTalk.device(
                Self.stairs, ["Trusted": .bool(true), "UUIDs": .list(BlueZTalk.services.map { .string($0) })])
        ]
        let buttons = [Self.hall, ExpectedButton(Self.stairs, .flic2)]
        var talk = BlueZTalk.ready(BlueZTalk.objects(and: BlueZTalk.known().merging(stairs) { $1 }))
        talk.when(.perform(.expect([], unwanted: [], elsewhere: buttons.map(\.address))))
        talk.parks()
        talk.parks(Self.stairsPath)
        for _ in 0..<6 { talk.answers(.success) }
        talk.when(.perform(.listen(.active)))
        talk.discovers(.all)
        talk.when(.perform(.expect(buttons, unwanted: [])))
        talk.calls(.stopDiscovery(adapter: BlueZTalk.adapter))
        talk.answers(.success)
        talk.arms()
        talk.answers(.error("org.bluez.Error.Failed", "br-connection-canceled"))
        talk.arms(Self.stairsPath)
        talk.answers(.success)
        talk.answers(.error("org.bluez.Error.Failed", "br-connection-canceled"))
        talk.calls(.setDiscoveryFilter(adapter: BlueZTalk.adapter, .all))
        talk.ends()
    }

    @Test(
        "a button that users disconnected and that is connected nevertheless is parked again, and so is one that BlueZ refused to park"
    )
    func parkedAgain() {
        var talk = BlueZTalk.parking(isElsewhere: false)
        for _ in 0..<3 { talk.answers(.success) }
        talk.changes(["Connected": .bool(true)])
        talk.parks()
        talk.answers(.error("org.bluez.Error.Failed"))
        talk.warns("refused a setting")
        talk.answers(.success)
        talk.answers(.success)
        talk.wait(.seconds(6))
        talk.parks()
        talk.ends()
    }

    @Test(
        "a link that comes up while its button moves to another radio stays, also if BlueZ was told to park the button",
        arguments: [false, true])
    func movedAtConnection(isParked: Bool) {
        var talk = BlueZTalk.ready(BlueZTalk.objects(and: BlueZTalk.known()), expecting: [Self.hall])
        talk.when(.perform(.expect([], unwanted: [], elsewhere: [BlueZTalk.hall])))
        talk.parks()
        talk.answers(.success)
        if isParked { talk.answers(.error("org.bluez.Error.NotConnected")) }
        talk.changes(["Connected": .bool(true)])
        if !isParked {
            // BlueZ may be ending this link.
            talk.ends()
            talk.answers(.error("org.bluez.Error.Failed"))
        }
        let id = talk.connects()
        talk.answers(.success)
        talk.changes(["ServicesResolved": .bool(true)])
        talk.acquires(id)
        talk.when(.perform(.expect([Self.hall], unwanted: [])))
        talk.ends()
        talk.changes(["Connected": .bool(false)])
        talk.does(.closeChannels(id))
        talk.reports(.disconnected(id, .unknown))
        if !isParked { talk.wait(.seconds(5)) }
        talk.arms()
        talk.ends()
    }

    @Test("a link of a button of another radio that BlueZ ends when it parks the button is not reported")
    func endedWhileParked() {
        var talk = BlueZTalk.parking()
        talk.answers(.success)
        talk.changes(["Connected": .bool(true)])
        talk.changes(["Connected": .bool(false)])
        talk.parks()
        talk.ends()
    }

    @Test("a link that a button of another radio has had since before the start is ended")
    func olderLinkElsewhere() {
        var talk = BlueZTalk.ready(BlueZTalk.objects(and: BlueZTalk.known(["Connected": .bool(true)])))
        talk.when(.perform(.expect([], unwanted: [], elsewhere: [BlueZTalk.hall])))
        talk.parks()
        talk.ends()
    }

    @Test("a button that is parked and at once wanted again is armed when BlueZ has answered that it is trusted again")
    func wantedWhileParked() {
        var talk = BlueZTalk.parking()
        talk.when(.perform(.expect([Self.hall], unwanted: [])))
        talk.ends()
        for isTrusted in [false, true] { talk.changes(["Trusted": .bool(isTrusted)]) }
        for _ in 0..<2 { talk.answers(.success) }
        talk.ends()
        talk.answers(.success)
        talk.arms()
        talk.answers(.error("org.bluez.Error.Failed", "br-connection-canceled"))
        talk.answers(.success)
        talk.wait(.seconds(60))
        talk.ends()
    }

    @Test("a button whose trust BlueZ did not give back when it was parked is trusted with the next attempt")
    func trustNotGivenBack() {
        var talk = BlueZTalk.parking()
        talk.answers(.success)
        talk.answers(.success)
        talk.answers(.error("org.freedesktop.DBus.Error.NoReply"))
        talk.warns("refused a setting")
        talk.wait(.seconds(6))
        talk.parks()
        for _ in 0..<3 { talk.answers(.success) }
        talk.wait(.seconds(60))
        talk.ends()
    }

    @Test(
        "a parked button whose services were only advertised is connected, because BlueZ would not connect it by itself"
    )
    func advertisedServices() {
        var talk = BlueZTalk.ready(
            BlueZTalk.objects(and: [BlueZTalk.hallPath: BlueZTalk.device(BlueZTalk.hall, ["Trusted": .bool(true)])]))
        talk.when(.perform(.expect([], unwanted: [], elsewhere: [BlueZTalk.hall])))
        talk.parks()
        for _ in 0..<3 { talk.answers(.success) }
        talk.changes(Self.signals)
        talk.when(.perform(.expect([Self.hall], unwanted: [])))
        talk.calls(.connect(device: BlueZTalk.hallPath))
        talk.ends()
    }

    @Test("a button that was connected already when it was to be armed is armed when that link has ended")
    func armedWithLink() {
        var talk = BlueZTalk.parking()
        for _ in 0..<3 { talk.answers(.success) }
        talk.when(.perform(.expect([Self.hall], unwanted: [])))
        talk.arms()
        talk.changes(["Connected": .bool(true)])
        let id = talk.connects()
        talk.answers(.success)
        talk.changes(["ServicesResolved": .bool(true)])
        talk.calls(.acquireNotify(characteristic: BlueZTalk.notify, id))
        talk.calls(.acquireWrite(characteristic: BlueZTalk.write, id))
        talk.answers(.success)
        talk.changes(["Connected": .bool(false), "ServicesResolved": .bool(false)])
        talk.does(.closeChannels(id))
        talk.reports(.disconnected(id, .unknown))
        talk.arms()
        talk.ends()
    }

    @Test("a button that BlueZ does not arm, because somebody pairs it, is armed 5 s later")
    func armedInProgress() {
        var talk = BlueZTalk.parking()
        for _ in 0..<3 { talk.answers(.success) }
        talk.when(.perform(.expect([Self.hall], unwanted: [])))
        talk.arms()
        talk.answers(.error("org.bluez.Error.InProgress"))
        talk.answers(.success)
        talk.wait(.seconds(6))
        talk.arms()
        talk.ends()
    }

    @Test("a parked button that is not trusted is trusted and connected, and that connection is not cancelled")
    func untrustedArmed() {
        var talk = BlueZTalk.ready(BlueZTalk.objects(and: BlueZTalk.known(["Trusted": .bool(false)])))
        talk.when(.perform(.expect([], unwanted: [], elsewhere: [BlueZTalk.hall])))
        talk.calls(.disconnect(device: BlueZTalk.hallPath))
        talk.answers(.success)
        talk.when(.perform(.expect([Self.hall], unwanted: [])))
        talk.calls(.setTrusted(device: BlueZTalk.hallPath))
        talk.calls(.connect(device: BlueZTalk.hallPath))
        talk.answers(.success)
        talk.ends()
        // `Connect` has armed it nevertheless.
        talk.answers(.error("org.bluez.Error.Failed", "le-connection-abort-by-local"))
        talk.wait(.seconds(60))
        talk.ends()
    }

    @Test("an untrusted button that another radio looks for is disconnected, which parks it")
    func untrustedElsewhere() {
        var talk = BlueZTalk.ready(BlueZTalk.objects(and: BlueZTalk.known(["Trusted": .bool(false)])))
        talk.when(.perform(.expect([], unwanted: [], elsewhere: [BlueZTalk.hall])))
        talk.calls(.disconnect(device: BlueZTalk.hallPath))
        talk.answers(.success)
        talk.wait(.seconds(60))
        talk.ends()
    }

    @Test(
        "a button that an earlier version has blocked is unblocked when it is wanted, and BlueZ connects it by itself")
    func blocked() {
        var talk = BlueZTalk.ready(
            BlueZTalk.objects(and: BlueZTalk.known(["Blocked": .bool(true)])), expecting: [Self.hall])
        talk.calls(.setBlocked(device: BlueZTalk.hallPath, false))
        talk.answers(.success)
        talk.wait(.seconds(60))
        talk.ends()
    }

    @Test("a button that an earlier version has blocked and that another radio looks for is unblocked and parked")
    func blockedElsewhere() {
        var talk = BlueZTalk.ready(BlueZTalk.objects(and: BlueZTalk.known(["Blocked": .bool(true)])))
        talk.when(.perform(.expect([], unwanted: [], elsewhere: [BlueZTalk.hall])))
        talk.calls(.setBlocked(device: BlueZTalk.hallPath, false))
        talk.parks()
        talk.changes(["Blocked": .bool(false)])
        for _ in 0..<4 { talk.answers(.success) }
        talk.when(.perform(.expect([Self.hall], unwanted: [])))
        talk.arms()
        talk.ends()
    }

    // MARK: The first connection

    @Test(
        "a button that became trusted without a link is connected first, because BlueZ does not connect it by itself",
        arguments: [false, true])
    func firstConnection(isResolved: Bool) {
        var talk = BlueZTalk.ready(
            BlueZTalk.objects(and: BlueZTalk.known(["Trusted": .bool(false)])), expecting: [Self.hall])
        talk.calls(.setTrusted(device: BlueZTalk.hallPath))
        talk.calls(.connect(device: BlueZTalk.hallPath))
        talk.answers(.success)
        talk.changes(["Connected": .bool(true)])
        let id = talk.connects()
        talk.answers(.success)
        if isResolved {
            talk.changes(["ServicesResolved": .bool(true)])
            talk.forgetEffects()
        }
        talk.changes(["Connected": .bool(false), "ServicesResolved": .bool(false)])
        talk.does(.closeChannels(id))
        talk.reports(.disconnected(id, .unknown))
        // With its services, the device has become one that BlueZ connects by itself.
        if !isResolved { talk.calls(.connect(device: BlueZTalk.hallPath)) }
        talk.ends()
    }

    @Test("a trusted button whose services BlueZ does not know is connected, and again 5 s after each failure")
    func unknownServices() {
        var talk = BlueZTalk.ready(
            BlueZTalk.objects(and: BlueZTalk.known(["UUIDs": .list([])])), expecting: [Self.hall])
        for _ in 0..<3 {
            talk.calls(.connect(device: BlueZTalk.hallPath))
            talk.answers(.error("org.bluez.Error.Failed", "le-connection-abort-by-local"))
            talk.wait(.seconds(6))
        }
        talk.calls(.connect(device: BlueZTalk.hallPath))
        talk.ends()
    }

    @Test("two buttons that were not heard are connected in turns, and give way to one that is heard and to a search")
    func turns() {
        let stairs = [Self.stairsPath: BlueZTalk.device(Self.stairs, ["Trusted": .bool(true)])]
        var talk = BlueZTalk.ready(
            BlueZTalk.objects(and: BlueZTalk.known(["UUIDs": .list([])]).merging(stairs) { $1 }),
            expecting: [Self.hall, ExpectedButton(Self.stairs, .flic2)])
        for path in [BlueZTalk.hallPath, Self.stairsPath, BlueZTalk.hallPath] {
            talk.calls(.connect(device: path))
            talk.answers(.error("org.bluez.Error.Failed", "le-connection-abort-by-local"))
            if path == Self.stairsPath { talk.wait(.seconds(6)) }
        }
        talk.calls(.connect(device: Self.stairsPath))
        talk.changes(["RSSI": .integer(-60)])
        talk.wait(.seconds(6))
        talk.forgetEffects()
        talk.when(.perform(.listen(.active)))
        talk.forgetEffects()
    }

    @Test("the connection of a button that was not heard ends when a search begins")
    func searchFirst() {
        var talk = BlueZTalk.ready(
            BlueZTalk.objects(and: BlueZTalk.known(["UUIDs": .list([])])), expecting: [Self.hall])
        talk.calls(.connect(device: BlueZTalk.hallPath))
        talk.when(.perform(.listen(.active)))
        talk.calls(.disconnect(device: BlueZTalk.hallPath))
        talk.answers(.error("org.bluez.Error.Failed", "le-connection-canceled"))
        talk.calls(.setDiscoveryFilter(adapter: BlueZTalk.adapter, .all))
        talk.ends()
    }

    @Test("the end of a descriptor ends the link; BlueZ tells that of the device afterwards")
    func descriptorEnds() {
        var (talk, id) = BlueZTalk.attached()
        talk.when(.bus(.ended(id)))
        talk.does(.closeChannels(id))
        talk.when(.bus(.received(id, [1])))
        talk.wait(.seconds(1))
        talk.changes(["Connected": .bool(false), "ServicesResolved": .bool(false)])
        talk.does(.closeChannels(id))
        talk.reports(.disconnected(id, .unknown))
        talk.ends()
    }

    @Test("a device that stays connected after the end of its descriptors is begun anew")
    func staysConnected() {
        var (talk, id) = BlueZTalk.attached()
        talk.when(.bus(.ended(id)))
        talk.does(.closeChannels(id))
        talk.wait(.seconds(3))
        talk.does(.closeChannels(id))
        talk.reports(.disconnected(id, .unknown))
        let next = talk.connects()
        #expect(next > id)
        talk.calls(.acquireNotify(characteristic: BlueZTalk.notify, next))
        talk.calls(.acquireWrite(characteristic: BlueZTalk.write, next))
        talk.ends()
    }

    @Test("a link that is to end is ended by BlueZ, and its end is awaited for ten seconds")
    func disconnect() {
        var (talk, id) = BlueZTalk.attached()
        talk.when(.perform(.expect([], unwanted: [])))
        talk.when(.perform(.disconnect(id)))
        talk.does(.closeChannels(id))
        talk.calls(.disconnect(device: BlueZTalk.hallPath))
        talk.when(.perform(.disconnect(id)))
        talk.wait(.seconds(11))
        talk.does(.closeChannels(id))
        talk.reports(.disconnected(id, .localHostTerminated))
        talk.ends()
    }

    @Test("a button is parked only when its link has ended, so that it is asked to leave first")
    func unwantedWithLink() {
        var (talk, id) = BlueZTalk.attached()
        talk.when(.perform(.expect([], unwanted: [BlueZTalk.hall])))
        talk.when(.perform(.write(id, [1])))
        talk.does(.write(id, [1]))
        talk.when(.bus(.ended(id)))
        talk.does(.closeChannels(id))
        talk.changes(["Connected": .bool(false)])
        talk.does(.closeChannels(id))
        talk.reports(.disconnected(id, .unknown))
        talk.parks()
        talk.ends()
    }

    @Test(
        "a button that could not be paired is removed from BlueZ, unless BlueZ had it before", arguments: [true, false])
    func forgetCandidate(wasThere: Bool) {
        var talk = BlueZTalk.ready(wasThere ? BlueZTalk.objects(and: BlueZTalk.known()) : BlueZTalk.objects())
        if !wasThere { talk.when(.bus(.interfacesAdded(BlueZTalk.hallPath, BlueZTalk.device(BlueZTalk.hall)))) }
        talk.when(.perform(.forget(BlueZTalk.hall, wasKnown: false)))
        if !wasThere { talk.calls(.removeDevice(adapter: BlueZTalk.adapter, device: BlueZTalk.hallPath)) }
        talk.ends()
    }

    @Test("a button that is forgotten is removed from BlueZ, and its link ends")
    func forget() {
        var (talk, id) = BlueZTalk.attached()
        talk.when(.perform(.expect([], unwanted: [])))
        talk.when(.perform(.forget(BlueZTalk.hall, wasKnown: true)))
        talk.calls(.removeDevice(adapter: BlueZTalk.adapter, device: BlueZTalk.hallPath))
        talk.when(.perform(.disconnect(id)))
        talk.does(.closeChannels(id))
        talk.calls(.disconnect(device: BlueZTalk.hallPath))
        talk.when(.bus(.interfacesRemoved(BlueZTalk.hallPath, ["org.bluez.Device1"])))
        talk.does(.closeChannels(id))
        talk.reports(.disconnected(id, .localHostTerminated))
        talk.answers(.success)
        talk.answers(.error("org.freedesktop.DBus.Error.UnknownObject"))
        talk.ends()
    }

    @Test(
        "a button that is forgotten while the adapter is off is removed from BlueZ afterwards, unless it is paired anew",
        arguments: [false, true])
    func forgetWhileOff(isPairedAnew: Bool) {
        var talk = BlueZTalk.ready(BlueZTalk.objects(and: BlueZTalk.known()), expecting: [Self.hall])
        talk.changes(["Powered": .bool(false)], of: BlueZTalk.adapter, interface: "org.bluez.Adapter1")
        talk.forgetEffects()
        talk.when(.closed)
        talk.when(.perform(.forget(BlueZTalk.hall, wasKnown: true)))
        talk.when(.perform(.expect([], unwanted: [])))
        if isPairedAnew { talk.when(.perform(.expect([Self.hall], unwanted: []))) }
        talk.reopens()
        if !isPairedAnew {
            talk.calls(.removeDevice(adapter: BlueZTalk.adapter, device: BlueZTalk.hallPath))
            talk.answers(.success)
        }
        talk.changes(["RSSI": .integer(-60)])
        talk.ends()
    }

    @Test("a button that bluetoothd does not remove because the adapter was just switched off is removed later")
    func forgetNotReady() {
        var talk = BlueZTalk.ready(BlueZTalk.objects(and: BlueZTalk.known()), expecting: [Self.hall])
        talk.when(.perform(.forget(BlueZTalk.hall, wasKnown: true)))
        talk.calls(.removeDevice(adapter: BlueZTalk.adapter, device: BlueZTalk.hallPath))
        talk.when(.perform(.expect([], unwanted: [])))
        talk.answers(.error("org.bluez.Error.NotReady"))
        talk.ends()
        talk.wait(.seconds(6))
        talk.calls(.removeDevice(adapter: BlueZTalk.adapter, device: BlueZTalk.hallPath))
        talk.answers(.success)
        talk.ends()
    }

    @Test(
        "a button that could not be paired while BlueZ was off is not removed from it later, when another program may use it"
    )
    func forgetCandidateWhileOff() {
        var talk = BlueZTalk.ready()
        talk.when(.bus(.ownerLost))
        talk.forgetEffects()
        talk.when(.closed)
        talk.when(.perform(.expect([Self.hall], unwanted: [])))
        talk.when(.perform(.expect([], unwanted: [])))
        talk.when(.perform(.forget(BlueZTalk.hall, wasKnown: false)))
        talk.reopens()
        talk.changes(["RSSI": .integer(-60)])
        talk.ends()
    }

    @Test("a button whose removal bluetoothd has not carried out when it ends is removed by the next one")
    func forgetAgain() {
        var talk = BlueZTalk.ready(BlueZTalk.objects(and: BlueZTalk.known()), expecting: [Self.hall])
        talk.when(.perform(.forget(BlueZTalk.hall, wasKnown: true)))
        talk.calls(.removeDevice(adapter: BlueZTalk.adapter, device: BlueZTalk.hallPath))
        talk.when(.perform(.expect([], unwanted: [])))
        talk.when(.bus(.ownerLost))
        talk.forgetEffects()
        talk.when(.closed)
        talk.reopens()
        talk.calls(.removeDevice(adapter: BlueZTalk.adapter, device: BlueZTalk.hallPath))
        talk.when(.bus(.interfacesRemoved(BlueZTalk.hallPath, ["org.bluez.Device1"])))
        talk.answers(.success)
        talk.ends()
    }

    @Test("a known button that is not trusted any more is trusted again")
    func untrusted() {
        var talk = BlueZTalk.ready(
            BlueZTalk.objects(and: BlueZTalk.known(["Trusted": .bool(false)])), expecting: [Self.hall])
        talk.calls(.setTrusted(device: BlueZTalk.hallPath))
        talk.calls(.connect(device: BlueZTalk.hallPath))
        talk.answers(.success)
        talk.ends()
    }

    // MARK: A new button

    @Test("a button in public mode is heard with its scan response, then connected without a discovery, and trusted")
    func pairing() {
        var talk = BlueZTalk.ready()
        talk.when(.perform(.listen(.active)))
        talk.discovers(.all)
        talk.when(.bus(.interfacesAdded(BlueZTalk.hallPath, BlueZTalk.device(BlueZTalk.hall, Self.signals))))
        talk.hears(isConnectedElsewhere: false)
        talk.when(.perform(.expect([Self.hall], unwanted: [])))
        talk.calls(.stopDiscovery(adapter: BlueZTalk.adapter))
        talk.when(.perform(.listen(.off)))
        talk.answers(.success)
        talk.calls(.connect(device: BlueZTalk.hallPath))
        talk.changes(["Connected": .bool(true)])
        let id = talk.connects()
        // Only now BlueZ keeps what it is told.
        talk.answers(.success)
        talk.calls(.setTrusted(device: BlueZTalk.hallPath))
        talk.when(
            .bus(.interfacesAdded(BlueZTalk.write, BlueZTalk.characteristic("00420001-8f59-4420-870d-84f3b617e493"))))
        talk.when(
            .bus(.interfacesAdded(BlueZTalk.notify, BlueZTalk.characteristic("00420002-8f59-4420-870d-84f3b617e493"))))
        talk.changes(["ServicesResolved": .bool(true)])
        talk.calls(.acquireNotify(characteristic: BlueZTalk.notify, id))
        talk.calls(.acquireWrite(characteristic: BlueZTalk.write, id))
        talk.ends()
    }

    private static let stairs = BluetoothAddress(rawValue: 0x80E4_DA7B_0002)
    private static let stairsPath = BlueZTalk.path(of: stairs)

    @Test("with as many links as configured, and a button without a link, the radio says once that it is full")
    func full() {
        let stairs = [
            Self.stairsPath: BlueZTalk.device(
                Self.stairs, ["Trusted": .bool(true), "UUIDs": .list(BlueZTalk.services.map { .string($0) })])
        ]
        var talk = BlueZTalk.ready(
            BlueZTalk.objects(and: BlueZTalk.known().merging(stairs) { $1 }),
            expecting: [Self.hall, ExpectedButton(Self.stairs, .flic2)], maximumLinks: 1)
        for _ in 0..<2 {
            talk.changes(["Connected": .bool(true)])
            let id = talk.connects()
            talk.reports(.linkLimitReached(1))
            talk.changes(["RSSI": .integer(-70)])
            talk.when(.perform(.disconnect(id)))
            talk.disconnectsHall(id)
        }
        // Without another button nothing is missing.
        talk.when(.perform(.expect([Self.hall], unwanted: [])))
        talk.changes(["Connected": .bool(true)])
        _ = talk.connects()
        talk.ends()
    }

    @Test(
        "a connection that is refused because there are too many says that the radio is full, until it has more links",
        arguments: ["le-connection-concurrent-connection-limit", "le-connection-memory-allocation"])
    func refusedForWantOfLinks(message: String) {
        let stairs = [Self.stairsPath: BlueZTalk.device(Self.stairs, Self.signals)]
        let expected = [Self.hall, ExpectedButton(Self.stairs, .flic2)]
        var talk = BlueZTalk.ready(
            BlueZTalk.objects(and: BlueZTalk.known(["Connected": .bool(true)]).merging(stairs) { $1 }),
            expecting: expected)
        _ = talk.connects()
        talk.calls(.connect(device: Self.stairsPath))
        talk.answers(.error("org.bluez.Error.Failed", message))
        talk.warns("could not connect")
        talk.reports(.linkLimitReached(1))
        talk.changes(["Connected": .bool(true)], of: Self.stairsPath)
        _ = talk.connects(to: Self.stairs)
        talk.forgetEffects()
        talk.when(.perform(.expect(expected + [ExpectedButton(BlueZTalk.own, .flic2)], unwanted: [])))
        #expect(!talk.effects.contains(.event(.linkLimitReached(2))))
        talk.forgetEffects()
        // The limit of one link was wrong, so it does not count after one of the links has ended, either.
        for path in [BlueZTalk.hallPath, Self.stairsPath] {
            talk.changes(["Connected": .bool(false)], of: path)
            talk.forgetEffects()
        }
        talk.changes(["Connected": .bool(true)])
        #expect(!talk.effects.contains(.event(.linkLimitReached(1))))
        talk.forgetEffects()
    }

    @Test("a button that is connected to another device says so")
    func connectedElsewhere() {
        var talk = BlueZTalk.ready()
        talk.when(.perform(.listen(.background)))
        talk.discovers(.flicServices)
        var signals = Self.signals
        signals["ManufacturerData"] = .dictionary(["783": .octets([1, 0x7B, 0, 1, 2])])
        talk.when(.bus(.interfacesAdded(BlueZTalk.hallPath, BlueZTalk.device(BlueZTalk.hall, signals))))
        talk.hears(isConnectedElsewhere: true)
        talk.when(.perform(.listen(.off)))
        talk.calls(.stopDiscovery(adapter: BlueZTalk.adapter))
        talk.answers(.success)
        talk.ends()
    }

    @Test("a connection that fails is tried again when the button is heard again; one that is not wanted is given up")
    func connectionFails() {
        var talk = BlueZTalk.ready(
            BlueZTalk.objects(and: [BlueZTalk.hallPath: BlueZTalk.device(BlueZTalk.hall, Self.signals)]),
            expecting: [Self.hall])
        talk.calls(.connect(device: BlueZTalk.hallPath))
        talk.answers(.error("org.bluez.Error.Failed", "le-connection-abort-by-local"))
        talk.warns("could not connect")
        talk.changes(["RSSI": .integer(-70)])
        talk.wait(.seconds(6))
        talk.calls(.connect(device: BlueZTalk.hallPath))
        talk.when(.perform(.expect([], unwanted: [])))
        talk.calls(.disconnect(device: BlueZTalk.hallPath))
        talk.ends()
    }

    @Test("a refused discovery is tried again after five seconds")
    func discoveryRefused() {
        var talk = BlueZTalk.ready()
        talk.when(.perform(.listen(.active)))
        talk.calls(.setDiscoveryFilter(adapter: BlueZTalk.adapter, .all))
        talk.answers(.success)
        talk.calls(.startDiscovery(adapter: BlueZTalk.adapter))
        talk.answers(.error("org.bluez.Error.InProgress"))
        talk.warns("refused to search")
        talk.wait(.seconds(6))
        talk.calls(.setDiscoveryFilter(adapter: BlueZTalk.adapter, .all))
        talk.ends()
    }

    @Test("a button that was not heard since is trusted, so that BlueZ keeps it, and is connected again")
    func notHeard() {
        var talk = BlueZTalk.ready(
            BlueZTalk.objects(and: [BlueZTalk.hallPath: BlueZTalk.device(BlueZTalk.hall, Self.signals)]),
            expecting: [Self.hall])
        talk.calls(.connect(device: BlueZTalk.hallPath))
        talk.answers(.error("org.bluez.Error.Failed", "le-connection-abort-by-local"))
        talk.warns("could not connect")
        talk.wait(.seconds(6))
        talk.calls(.setTrusted(device: BlueZTalk.hallPath))
        talk.calls(.connect(device: BlueZTalk.hallPath))
        talk.ends()
    }

    @Test("a button that was connected, and could not be trusted, is trusted after its link has ended")
    func trustRefused() {
        var talk = BlueZTalk.ready(
            BlueZTalk.objects(and: [BlueZTalk.hallPath: BlueZTalk.device(BlueZTalk.hall, Self.signals)]),
            expecting: [Self.hall])
        talk.calls(.connect(device: BlueZTalk.hallPath))
        talk.changes(["Connected": .bool(true)])
        let id = talk.connects()
        talk.answers(.success)
        talk.calls(.setTrusted(device: BlueZTalk.hallPath))
        talk.answers(.error("org.freedesktop.DBus.Error.Failed"))
        talk.warns("refused a setting")
        talk.changes(["Connected": .bool(false)])
        talk.does(.closeChannels(id))
        talk.reports(.disconnected(id, .unknown))
        talk.wait(.seconds(6))
        talk.calls(.setTrusted(device: BlueZTalk.hallPath))
        talk.calls(.connect(device: BlueZTalk.hallPath))
        talk.ends()
    }

    @Test(
        "a new button that is refused for want of links is trusted, so that BlueZ keeps it, and tried again every 5 s")
    func keptForWantOfLinks() {
        var talk = BlueZTalk.ready(
            BlueZTalk.objects(and: [BlueZTalk.hallPath: BlueZTalk.device(BlueZTalk.hall, Self.signals)]),
            expecting: [Self.hall])
        for round in 0..<3 {
            talk.calls(.connect(device: BlueZTalk.hallPath))
            if round == 1 { talk.answers(.success) }
            talk.answers(.error("org.bluez.Error.Failed", "le-connection-concurrent-connection-limit"))
            talk.warns("could not connect")
            talk.wait(.seconds(6))
            if round == 0 { talk.calls(.setTrusted(device: BlueZTalk.hallPath)) }
        }
        talk.calls(.connect(device: BlueZTalk.hallPath))
        talk.ends()
    }

    @Test("a button that was refused for want of links is connected at once when another link ends")
    func connectedWithRoom() {
        let stairs = [Self.stairsPath: BlueZTalk.device(Self.stairs, Self.signals)]
        var talk = BlueZTalk.ready(
            BlueZTalk.objects(and: BlueZTalk.known(["Connected": .bool(true)]).merging(stairs) { $1 }),
            expecting: [Self.hall, ExpectedButton(Self.stairs, .flic2)])
        let id = talk.connects()
        talk.calls(.connect(device: Self.stairsPath))
        talk.answers(.error("org.bluez.Error.Failed", "le-connection-concurrent-connection-limit"))
        talk.warns("could not connect")
        talk.reports(.linkLimitReached(1))
        talk.changes(["Connected": .bool(false)])
        talk.does(.closeChannels(id))
        talk.reports(.disconnected(id, .unknown))
        talk.calls(.setTrusted(device: Self.stairsPath))
        talk.calls(.connect(device: Self.stairsPath))
        talk.ends()
    }

    @Test(
        "what BlueZ does not know of an advertisement is not reported: a scan response, and the mode of a known button")
    func unknown() {
        var talk = BlueZTalk.ready(BlueZTalk.objects(and: BlueZTalk.known()), expecting: [Self.hall])
        talk.when(.perform(.listen(.active)))
        talk.calls(.setDiscoveryFilter(adapter: BlueZTalk.adapter, .all))
        // The services of a known button are those that were found on its link.
        talk.changes(["RSSI": .integer(-70), "UUIDs": .list(BlueZTalk.services.map { .string($0) })])
        talk.reports(.heard(HeardAdvertisement(kind: .connectable, address: BlueZTalk.hall, rssi: -70)))
        talk.ends()
    }

    @Test("the stored services of a button that another radio has, or that users disconnected, do not mean public mode")
    func knownElsewhere() {
        for isElsewhere in [true, false] {
            var talk = BlueZTalk.parking(isElsewhere: isElsewhere)
            talk.when(.perform(.listen(.active)))
            talk.calls(.setDiscoveryFilter(adapter: BlueZTalk.adapter, .all))
            for isTrusted in [false, true] {
                talk.changes(["Trusted": .bool(isTrusted)])
                talk.changes(["RSSI": .integer(-70), "UUIDs": .list(BlueZTalk.services.map { .string($0) })])
                talk.reports(.heard(HeardAdvertisement(kind: .connectable, address: BlueZTalk.hall, rssi: -70)))
            }
            talk.ends()
        }
    }

    // MARK: A button that BlueZ does not know

    @Test("a known button that BlueZ does not know is searched by its address for a minute, connected and trusted")
    func absent() {
        var talk = BlueZTalk.ready(expecting: [Self.hall])
        talk.searchesAndConnects()
        talk.ends()
    }

    @Test("an expected button that somebody removes from BlueZ is searched by its address for a minute, and connected")
    func removed() {
        var talk = BlueZTalk.ready(BlueZTalk.objects(and: BlueZTalk.known()), expecting: [Self.hall])
        // The search after the start is over.
        talk.wait(.seconds(61))
        talk.when(.bus(.interfacesRemoved(BlueZTalk.hallPath, ["org.bluez.Device1"])))
        talk.searchesAndConnects()
        talk.ends()
    }

    @Test("a button that is removed from BlueZ while it is connected is searched for at once, without an answer")
    func removedWhileConnecting() {
        var talk = BlueZTalk.ready(
            BlueZTalk.objects(and: BlueZTalk.known(["UUIDs": .list([])])), expecting: [Self.hall])
        talk.calls(.connect(device: BlueZTalk.hallPath))
        talk.when(.bus(.interfacesRemoved(BlueZTalk.hallPath, ["org.bluez.Device1"])))
        talk.calls(.setDiscoveryFilter(adapter: BlueZTalk.adapter, .addressPrefix("80:E4:DA:7B:00:01")))
        talk.ends()
    }

    @Test("a device that BlueZ refuses as unknown, and lists nevertheless, is connected again after 5 s")
    func unknownListed() {
        let objects = BlueZTalk.objects(and: BlueZTalk.known(["UUIDs": .list([])]))
        var talk = BlueZTalk.ready(objects, expecting: [Self.hall])
        talk.calls(.connect(device: BlueZTalk.hallPath))
        talk.answers(.error("org.freedesktop.DBus.Error.UnknownObject"))
        talk.calls(.getManagedObjects)
        talk.calls(.setDiscoveryFilter(adapter: BlueZTalk.adapter, .addressPrefix("80:E4:DA:7B:00:01")))
        talk.answers(.objects(objects))
        talk.answers(.error("org.bluez.Error.NotReady"))
        talk.warns("refused to search")
        talk.ends()
        talk.wait(.seconds(6))
        talk.calls(.connect(device: BlueZTalk.hallPath))
        talk.ends()
    }

    @Test("a device whose object is gone without a report is looked for by its address among the objects")
    func unknownObject() {
        let path = BlueZTalk.adapter + "/dev_other"
        var talk = BlueZTalk.ready(
            BlueZTalk.objects(and: BlueZTalk.known(["Trusted": .bool(false)])), expecting: [Self.hall])
        talk.calls(.setTrusted(device: BlueZTalk.hallPath))
        talk.calls(.connect(device: BlueZTalk.hallPath))
        talk.answers(.error("org.freedesktop.DBus.Error.UnknownObject"))
        talk.calls(.getManagedObjects)
        talk.calls(.setDiscoveryFilter(adapter: BlueZTalk.adapter, .addressPrefix("80:E4:DA:7B:00:01")))
        talk.answers(.error("org.freedesktop.DBus.Error.UnknownObject"))
        talk.answers(
            .objects(BlueZTalk.objects(and: [path: BlueZTalk.device(BlueZTalk.hall, ["Connected": .bool(true)])])))
        _ = talk.connects()
        talk.wait(.seconds(6))
        talk.calls(.setTrusted(device: path))
        talk.ends()
    }

    @Test("the search for absent buttons ends with advice, and begins again with the next one")
    func absentAdvice() {
        let second = ExpectedButton(BluetoothAddress(rawValue: 0x80E4_DA7B_0102), .flic2)
        var talk = BlueZTalk.ready(expecting: [Self.hall])
        talk.discovers(.addressPrefix("80:E4:DA:7B:00:01"))
        talk.wait(.seconds(61))
        talk.warns("BlueZ does not know 80:E4:DA:7B:00:01: press")
        talk.calls(.stopDiscovery(adapter: BlueZTalk.adapter))
        talk.answers(.success)
        talk.when(.perform(.expect([Self.hall, second], unwanted: [])))
        // It may be a device that was not remembered.
        talk.calls(.getManagedObjects)
        talk.calls(.setDiscoveryFilter(adapter: BlueZTalk.adapter, .addressPrefix("80:E4:DA:7B:0")))
        talk.ends()
    }

    @Test("devices that are no buttons are not remembered, and no more than 512")
    func bounded() {
        var talk = BlueZTalk.ready()
        talk.when(.perform(.listen(.active)))
        talk.calls(.setDiscoveryFilter(adapter: BlueZTalk.adapter, .all))
        for number in 0..<600 {
            let other = BluetoothAddress(rawValue: 0x0011_2200_0000 + UInt64(number))
            talk.when(.bus(.interfacesAdded(BlueZTalk.path(of: other), BlueZTalk.device(other))))
        }
        for number in 0..<600 {
            let flic = BluetoothAddress(rawValue: 0x80E4_DA00_0000 + UInt64(number))
            talk.when(.bus(.interfacesAdded(BlueZTalk.path(of: flic), BlueZTalk.device(flic))))
            if !talk.effects.isEmpty { talk.forgetEffects() }
        }
        // Somebody who advertises as many buttons must not keep a known one away.
        talk.when(.perform(.expect([Self.hall], unwanted: [])))
        talk.forgetEffects()
        talk.when(
            .bus(.interfacesAdded(BlueZTalk.hallPath, BlueZTalk.device(BlueZTalk.hall, ["Connected": .bool(true)]))))
        talk.calls(.setTrusted(device: BlueZTalk.hallPath))
        _ = talk.connects()
        talk.forgetEffects()
    }

    @Test("any order of messages keeps the radio sound")
    func anyOrder() {
        var random = SeededGenerator(seed: 19)
        for _ in 0..<40 {
            var talk = BlueZTalk()
            talk.when(.busOpened(.any))
            talk.forgetEffects()
            for _ in 0..<250 {
                talk.happen(&random)
                talk.forgetEffects()
            }
        }
    }
}

extension BlueZTalk {
    /// Something that bluetoothd or the owner may do.
    fileprivate mutating func happen(_ random: inout SeededGenerator) {
        let button = ExpectedButton(Self.hall, Bool.random(using: &random) ? .flic2 : .twist)
        let id = lastLink ?? LinkID(rawValue: 1 << 31)
        let flags = ["Connected", "ServicesResolved", "Trusted", "Blocked"]
        switch Int.random(in: 0..<20, using: &random) {
        case 0: when(.perform(.expect([button], unwanted: [])))
        case 1:
            let isElsewhere = Bool.random(using: &random)
            when(
                .perform(
                    .expect([], unwanted: isElsewhere ? [] : [Self.hall], elsewhere: isElsewhere ? [Self.hall] : [])))
        case 2: when(.perform(.listen([.off, .background, .active].randomElement(using: &random) ?? .off)))
        case 3: when(.perform(.disconnect(id)))
        case 4: when(.perform(.forget(Self.hall, wasKnown: Bool.random(using: &random))))
        case 5: when(.bus(.ended(id)))
        case 6: when(.bus(.interfacesAdded(Self.hallPath, Self.device())))
        case 7: when(.bus(.interfacesRemoved(Self.hallPath, ["org.bluez.Device1"])))
        case 8:
            for (path, interfaces) in Self.known() { when(.bus(.interfacesAdded(path, interfaces))); forgetEffects() }
        case 9 where Int.random(in: 0..<6, using: &random) == 0: when(.bus(.ownerLost))
        case 10 where Int.random(in: 0..<3, using: &random) == 0:
            when(.closed)
            forgetEffects()
            when(.busOpened(.any))
        case 11: wait(.milliseconds(Int.random(in: 0..<12_000, using: &random)))
        case 12, 13, 14:
            changes([flags.randomElement(using: &random) ?? "": .bool(Bool.random(using: &random))])
        default:
            guard let (_, call) = openCall else { break }
            let isLast = Bool.random(using: &random)
            if Int.random(in: 0..<5, using: &random) == 0 {
                answers(.error("org.bluez.Error.NotPermitted"), isLast: isLast)
            } else if case .getManagedObjects = call {
                answers(.objects(Self.objects(and: Self.known())))
            } else if case .acquireNotify = call {
                answers(.acquired(140))
            } else if case .acquireWrite = call {
                answers(.acquired(140))
            } else {
                answers(.success)
            }
        }
    }
}

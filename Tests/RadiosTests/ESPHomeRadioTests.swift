import ButtonModel
import ESPHome
import Radios
import Testing

@Suite("A radio behind an ESPHome proxy")
struct ESPHomeRadioTests {
    private static let link = LinkID(rawValue: 1)
    private static let hall = ProxyTalk.hall

    @Test("It greets the proxy, asks what it can do, subscribes, and is ready when the scanner's state comes")
    func start() {
        var talk = ProxyTalk()
        talk.open()
        talk.says(.hello(HelloRequest(clientInfo: "Tryck")))
        talk.say(.helloResponse(HelloResponse(major: 1, minor: 10, serverInfo: "2026.6.5", name: "hall")))
        talk.says(.deviceInfoRequest)
        talk.say(.deviceInfo(ProxyTalk.device))
        talk.says(.subscribeAdvertisements(flags: 1))
        talk.says(.subscribeConnectionsFree)
        talk.say(.connectionsFree(free: 3, limit: 3, allocated: []))
        talk.reports(.linkLimit(3))
        talk.say(.scannerState(.running, mode: .active, configuredMode: .active))
        talk.reports(
            .ready(
                RadioInfo(
                    address: ProxyTalk.own, acceptListSize: 255, connectsByItself: false,
                    description: "ESPHome 2026.6.5")))
        talk.says(.setScannerMode(isActive: false))
        talk.ends()
    }

    @Test("With a key, the same is said encrypted")
    func encrypted() throws {
        let key = try #require(ESPHomeKey(Array(0..<32)))
        var talk = ProxyTalk(key: key, proxyKey: key)
        talk.open()
        talk.says(.hello(HelloRequest(clientInfo: "Tryck")))
        talk.ends()
    }

    @Test("A wrong key, a missing key and a needless key are faults with advice")
    func keys() throws {
        let (one, other) = (try #require(ESPHomeKey(Array(0..<32))), try #require(ESPHomeKey(Array(1...32))))
        for (key, proxyKey) in [(one, other), (nil, one), (one, nil)] as [(ESPHomeKey?, ESPHomeKey?)] {
            var talk = ProxyTalk(key: key, proxyKey: proxyKey)
            talk.open()
            guard case .reports(.failed(let advice, .wrongKey))? = talk.acts.first else {
                Issue.record("\(talk.acts)")
                continue
            }
            #expect(advice.contains("key"))
        }
    }

    @Test("A proxy that somebody else has is taken; after a lost connection that is believed only after 160 s")
    func taken() {
        var talk = ProxyTalk()
        talk.openUntilDeviceIsKnown()
        talk.wait(.seconds(3))
        guard case .reports(.unusable(_, .taken))? = talk.acts.first else { return talk.missed() }
        talk.passOver()

        talk = ProxyTalk.ready()
        talk.when(.closed)
        talk.openUntilDeviceIsKnown()
        talk.wait(.seconds(3))
        talk.says(.subscribeAdvertisements(flags: 1))
        talk.says(.subscribeConnectionsFree)
        talk.say(.scannerState(.running, mode: .passive, configuredMode: .passive))
        guard case .reports(.ready)? = talk.acts.first else { return talk.missed() }
    }

    @Test(
        "A proxy that somebody else has is asked every 5 s on one connection, until it answers"
    )
    func takenUntilFree() {
        var talk = ProxyTalk()
        talk.openUntilDeviceIsKnown()
        talk.wait(.seconds(3))
        guard case .reports(.unusable(let advice, .taken))? = talk.acts.first else {
            return talk.missed()
        }
        #expect(advice.contains("Home Assistant"))
        talk.reports(.unusable(advice, .taken))
        // For an hour.
        for _ in 0..<720 {
            talk.says(.subscribeAdvertisements(flags: 1))
            talk.says(.subscribeConnectionsFree)
            talk.say(.pingRequest)
            talk.says(.pingResponse)
            talk.wait(.seconds(5))
        }
        talk.passOver()
        talk.say(.scannerState(.running, mode: .passive, configuredMode: .passive))
        guard case .reports(.ready)? = talk.acts.first else { return talk.missed() }
        talk.passOver()
        talk.wait(.seconds(9))
        talk.ends()
    }

    @Test("A device without an active proxy, and one with another version of the protocol, are faults")
    func unsuitable() {
        var talk = ProxyTalk()
        talk.open()
        talk.passOver()
        talk.say(.helloResponse(HelloResponse(major: 1, minor: 10, serverInfo: "", name: "")))
        talk.passOver()
        var device = ProxyTalk.device
        device.features = [.passiveScan, .rawAdvertisements]
        talk.say(.deviceInfo(device))
        guard case .reports(.failed(_, .notAProxy))? = talk.acts.first else { return talk.missed() }

        talk = ProxyTalk()
        talk.open()
        talk.passOver()
        talk.say(.helloResponse(HelloResponse(major: 2, minor: 0, serverInfo: "", name: "")))
        guard case .reports(.failed(_, .unsupported))? = talk.acts.first else { return talk.missed() }
    }

    @Test("A silent proxy is pinged after 10 s, and given up after another 10 s")
    func silence() {
        var talk = ProxyTalk.ready()
        talk.wait(.seconds(10))
        talk.says(.pingRequest)
        talk.say(.pingResponse)
        talk.wait(.seconds(10))
        talk.says(.pingRequest)
        talk.wait(.seconds(10))
        guard case .reports(.failed(_, .absent))? = talk.acts.first else { return talk.missed() }
        talk.passOver()
        talk.say(.pingRequest)
        talk.ends()
    }

    /// An advertisement of a neighbour's device.
    private static let neighbour = RawAdvertisement(address: 0xC0FF_EE00_0001, rssi: -70, data: [2, 1, 6])

    @Test("A proxy that hears nobody for 90 s is deaf, if it has heard others before")
    func deaf() {
        var talk = ProxyTalk.ready()
        talk.say(.rawAdvertisements([Self.neighbour]))
        for _ in 0..<8 {
            talk.wait(.seconds(10))
            talk.says(.pingRequest)
            talk.say(.pingResponse)
        }
        talk.wait(.seconds(9))
        talk.say(.pingRequest)
        talk.says(.pingResponse)
        talk.wait(.seconds(2))
        talk.reports(.failed("The proxy has heard no Bluetooth device for 90 s. It may have to be restarted.", .deaf))
        talk.passOver()
    }

    private static let porch = BluetoothAddress(rawValue: 0x80E4_DA7B_0002)

    /// Waits, and answers what keeps the connection alive.
    private static func wait(_ seconds: Int, _ talk: inout ProxyTalk) {
        for _ in 0..<seconds {
            talk.wait(.seconds(1))
            guard talk.acts.isEmpty else { return }
            talk.say(.pingRequest)
            talk.says(.pingResponse)
        }
    }

    @Test("Beside a link, the scanner of a proxy that hears nobody any more is restarted, and the link stays")
    func deafBesideLink() {
        var talk = ProxyTalk.ready()
        talk.attach()
        talk.when(
            .perform(.expect([ExpectedButton(Self.hall, .flic2), ExpectedButton(Self.porch, .flic2)], unwanted: [])))
        // Where nobody else was heard, silence shows nothing.
        Self.wait(400, &talk)
        talk.ends()
        for _ in 0..<3 {
            talk.say(.rawAdvertisements([Self.neighbour]))
            Self.wait(91, &talk)
            guard case .reports(.anomaly)? = talk.acts.first else { return talk.missed() }
            #expect(
                talk.acts.dropFirst() == [
                    .says(.setScannerMode(isActive: true)), .says(.setScannerMode(isActive: false)),
                ])
            talk.passOver()
        }
        // That has not helped, and another button needs the scanner. The link that works stays: a new connection would not
        // repair the proxy.
        Self.wait(91, &talk)
        guard case .reports(.anomaly(let advice))? = talk.acts.first else { return talk.missed() }
        #expect(advice.contains("Restart the proxy"))
        #expect(
            talk.acts.dropFirst() == [
                .says(.setScannerMode(isActive: true)), .says(.setScannerMode(isActive: false)),
            ])
        talk.passOver()
        // The scanner is restarted again and again, and nothing is reported a second time.
        for _ in 0..<7 {
            Self.wait(91, &talk)
            #expect(
                talk.acts == [.says(.setScannerMode(isActive: true)), .says(.setScannerMode(isActive: false))])
            talk.passOver()
        }
        talk.say(.notified(address: ProxyTalk.address, handle: 14, value: [1]))
        talk.reports(.notified(Self.link, [1]))
        // Without a link, nothing is lost by a new connection.
        talk.say(.deviceConnection(address: ProxyTalk.address, isConnected: false, mtu: 0, error: 8))
        talk.passOver()
        Self.wait(91, &talk)
        guard case .reports(.failed(_, .deaf))? = talk.acts.first else { return talk.missed() }
        talk.passOver()
    }

    @Test("The scanner of a proxy that was deaf without a link is restarted once, on the next connection")
    func deafWithoutLink() {
        var talk = ProxyTalk.ready()
        talk.say(.rawAdvertisements([Self.neighbour]))
        Self.wait(91, &talk)
        guard case .reports(.failed(_, .deaf))? = talk.acts.first else { return talk.missed() }
        talk.passOver()
        let restart: [ProxyTalk.Act] = [
            .says(.setScannerMode(isActive: true)), .says(.setScannerMode(isActive: false)),
        ]
        for expected in [restart, restart.suffix(1)] {
            talk.when(.closed)
            talk.openUntilDeviceIsKnown()
            talk.say(.scannerState(.running, mode: .passive, configuredMode: .passive))
            guard case .reports(.ready)? = talk.acts.first else { return talk.missed() }
            #expect(Array(talk.acts.dropFirst()) == expected)
            talk.passOver()
        }
    }

    @Test("Beside a link, a proxy whose scanner cannot be restarted is not given up either, and a dead one is")
    func deafWithoutScannerState() {
        var talk = ProxyTalk.ready(without: .scannerState)
        talk.attach()
        talk.when(
            .perform(.expect([ExpectedButton(Self.hall, .flic2), ExpectedButton(Self.porch, .flic2)], unwanted: [])))
        talk.say(.rawAdvertisements([Self.neighbour]))
        for _ in 0..<2 {
            Self.wait(91, &talk)
            guard case .reports(.anomaly)? = talk.acts.first, talk.acts.count == 1 else { return talk.missed() }
            talk.passOver()
        }
        Self.wait(600, &talk)
        talk.ends()
        talk.wait(.seconds(20))
        guard case .says(.pingRequest)? = talk.acts.first, case .reports(.failed(_, .absent))? = talk.acts.last else {
            return talk.missed()
        }
        talk.passOver()
    }

    @Test("While each button has a link, a proxy that stays deaf is left alone, until another button needs it")
    func deafAndComplete() {
        var talk = ProxyTalk.ready()
        talk.attach()
        talk.say(.rawAdvertisements([Self.neighbour]))
        Self.wait(91, &talk)
        talk.passOver()
        Self.wait(400, &talk)
        talk.ends()
        talk.when(
            .perform(.expect([ExpectedButton(Self.hall, .flic2), ExpectedButton(Self.porch, .flic2)], unwanted: [])))
        // The silence has lasted since the first report, so this is the second one.
        Self.wait(91, &talk)
        guard case .reports(.anomaly(let advice))? = talk.acts.first else { return talk.missed() }
        #expect(advice.contains("still hears no Bluetooth device"))
        #expect(
            talk.acts.dropFirst() == [
                .says(.setScannerMode(isActive: true)), .says(.setScannerMode(isActive: false)),
            ])
        talk.passOver()
        talk.say(.deviceConnection(address: ProxyTalk.address, isConnected: false, mtu: 0, error: 8))
        talk.passOver()
        Self.wait(91, &talk)
        guard case .reports(.failed(_, .deaf))? = talk.acts.first else { return talk.missed() }
        talk.passOver()
    }

    @Test("Where only our buttons are near, silence is no fault", arguments: [false, true])
    func quietPlace(hadNeighbour: Bool) {
        var talk = ProxyTalk.ready()
        if hadNeighbour { talk.say(.rawAdvertisements([Self.neighbour])) }
        talk.when(.perform(.listen(.background)))
        talk.passOver()
        func pass(_ minutes: Int, silent: Bool) {
            for second in 0..<(minutes * 6) {
                talk.wait(.seconds(10))
                talk.passOver()
                talk.say(.pingResponse)
                guard !silent, second % 6 == 0 else { continue }
                talk.say(.rawAdvertisements([Self.heard()]))
                talk.passOver()
            }
        }
        // The neighbour was there an hour ago.
        pass(61, silent: false)
        pass(3, silent: true)
        talk.say(.rawAdvertisements([Self.heard()]))
        let isHeard = talk.acts.contains { if case .reports(.heard) = $0 { true } else { false } }
        #expect(isHeard)
    }

    @Test("A link of which a proxy tells after the attempt is ended, because nobody would receive the presses")
    func lateLink() {
        var talk = ProxyTalk.ready()
        talk.say(.deviceConnection(address: ProxyTalk.address, isConnected: true, mtu: 23, error: 0))
        talk.says(.deviceRequest(address: ProxyTalk.address, .disconnect, addressType: nil))
        talk.ends()
    }

    private static func heard(_ rssi: Int32 = -61) -> RawAdvertisement {
        RawAdvertisement(address: hall.rawValue, rssi: rssi, data: [2, 1, 6])
    }

    @Test(
        "The first link to a button is made without cache: services, notifications, packets, and the end with two messages"
    )
    func firstLink() {
        var talk = ProxyTalk.ready()
        talk.say(.rawAdvertisements([Self.heard()]))
        talk.reports(.heard(HeardAdvertisement(kind: .connectable, address: Self.hall, rssi: -61)))
        talk.when(.perform(.attempt(Self.hall)))
        talk.says(.deviceRequest(address: ProxyTalk.address, .connectWithoutCache, addressType: 0))
        talk.say(.deviceConnection(address: ProxyTalk.address, isConnected: true, mtu: 131, error: 0))
        talk.reports(.connected(Self.link, Self.hall))
        talk.says(.getServices(address: ProxyTalk.address))
        talk.say(.services(address: ProxyTalk.address, ProxyTalk.services), .servicesDone(address: ProxyTalk.address))
        talk.says(.notify(address: ProxyTalk.address, handle: 14, isEnabled: true))
        talk.says(.writeDescriptor(address: ProxyTalk.address, handle: 15, value: [1, 0]))
        talk.say(.notifyResponse(address: ProxyTalk.address, handle: 14))
        talk.say(.writeResponse(address: ProxyTalk.address, handle: 15))
        talk.reports(.attached(Self.link, .flic2, attMTU: 131))
        talk.when(.perform(.write(Self.link, [1, 2, 3])))
        talk.says(.write(address: ProxyTalk.address, handle: 12, withResponse: false, value: [1, 2, 3]))
        talk.say(.writeResponse(address: ProxyTalk.address, handle: 12))
        talk.say(.notified(address: ProxyTalk.address, handle: 14, value: [9]))
        talk.reports(.notified(Self.link, [9]))
        talk.when(.perform(.keepDiscovery(Self.link)))
        talk.when(.perform(.disconnect(Self.link)))
        talk.says(.deviceRequest(address: ProxyTalk.address, .disconnect, addressType: nil))
        talk.say(.deviceConnection(address: ProxyTalk.address, isConnected: false, mtu: 0, error: 0x16))
        talk.reports(.disconnected(Self.link, .localHostTerminated))
        // The slot is not free yet, so an attempt waits.
        talk.when(.perform(.attempt(Self.hall)))
        talk.say(.deviceConnection(address: ProxyTalk.address, isConnected: false, mtu: 0, error: 0x16))
        talk.says(.deviceRequest(address: ProxyTalk.address, .connectWithCache, addressType: 0))
        // The ATT_MTU that is said with cache is not believed.
        talk.say(.deviceConnection(address: ProxyTalk.address, isConnected: true, mtu: 23, error: 0))
        talk.reports(.connected(LinkID(rawValue: 2), Self.hall))
        talk.says(.notify(address: ProxyTalk.address, handle: 14, isEnabled: true))
        talk.says(.writeDescriptor(address: ProxyTalk.address, handle: 15, value: [1, 0]))
        talk.say(.writeResponse(address: ProxyTalk.address, handle: 15))
        talk.reports(.attached(LinkID(rawValue: 2), .flic2, attMTU: 131))
        talk.ends()
    }

    @Test(
        "A link gets the parameters that its button asks for, if the proxy can set them, and a refusal is only logged"
    )
    func parameters() {
        let wanted = LinkParameters(minimumInterval: 80, maximumInterval: 90, latency: 17, supervisionTimeout: 800)
        var talk = ProxyTalk.ready()
        talk.attach()
        talk.when(.perform(.update(Self.link, wanted)))
        talk.ends()

        talk = ProxyTalk.ready(features: .connectionParameters)
        talk.attach()
        talk.when(.perform(.update(LinkID(rawValue: 7), wanted)))
        talk.when(.perform(.update(Self.link, wanted)))
        talk.says(
            .setConnectionParameters(
                address: ProxyTalk.address, minimumInterval: 80, maximumInterval: 90, latency: 17, timeout: 800))
        talk.say(.connectionParametersSet(address: ProxyTalk.address, error: 0))
        talk.say(.connectionParametersSet(address: ProxyTalk.address, error: 0x3B))
        guard case .reports(.anomaly)? = talk.acts.first else { return talk.missed() }
        talk.passOver()
        talk.say(.connectionParametersSet(address: ProxyTalk.address + 1, error: 0x3B))
        talk.ends()
    }

    @Test("Handles that are not so any more are forgotten, and the next link is made without cache")
    func outdated() {
        var talk = ProxyTalk.ready()
        talk.attach()
        talk.when(.perform(.keepDiscovery(Self.link)))
        talk.say(.deviceConnection(address: ProxyTalk.address, isConnected: false, mtu: 0, error: 8))
        talk.reports(.disconnected(Self.link, .connectionTimeout))
        talk.say(.deviceConnection(address: ProxyTalk.address, isConnected: false, mtu: 0, error: 8))
        talk.when(.perform(.attempt(Self.hall)))
        talk.says(.deviceRequest(address: ProxyTalk.address, .connectWithCache, addressType: 0))
        talk.say(.deviceConnection(address: ProxyTalk.address, isConnected: true, mtu: 23, error: 0))
        talk.passOver()
        talk.say(.gattError(address: ProxyTalk.address, handle: 15, error: 1))
        guard case .reports(.anomaly)? = talk.acts.first else { return talk.missed() }
        #expect(
            talk.acts.dropFirst() == [
                .reports(.attachFailed(LinkID(rawValue: 2))),
                .says(.deviceRequest(address: ProxyTalk.address, .clearCache, addressType: nil)),
                .says(.deviceRequest(address: ProxyTalk.address, .disconnect, addressType: nil)),
            ])
    }

    @Test("A link on which handles are not so any more is ended, and the next one is made without cache")
    func outdatedLater() {
        var talk = ProxyTalk.ready()
        talk.attach()
        talk.when(.perform(.keepDiscovery(Self.link)))
        talk.say(.gattError(address: ProxyTalk.address, handle: 12, error: 10))
        guard case .reports(.anomaly)? = talk.acts.first else { return talk.missed() }
        #expect(
            talk.acts.dropFirst() == [
                .says(.deviceRequest(address: ProxyTalk.address, .clearCache, addressType: nil)),
                .says(.deviceRequest(address: ProxyTalk.address, .disconnect, addressType: nil)),
            ])
        talk.passOver()
        for _ in 0..<2 {
            talk.say(.deviceConnection(address: ProxyTalk.address, isConnected: false, mtu: 0, error: 0x16))
            talk.passOver()
        }
        talk.when(.perform(.attempt(Self.hall)))
        talk.says(.deviceRequest(address: ProxyTalk.address, .connectWithoutCache, addressType: 0))
        talk.ends()
    }

    @Test("A link is ended if the proxy three times has no room for a packet, unless the button was heard meanwhile")
    func congested() {
        var talk = ProxyTalk.ready()
        talk.attach()
        func congest() {
            talk.say(.gattError(address: ProxyTalk.address, handle: 12, error: 0x8F))
            guard case .reports(.anomaly(let text))? = talk.acts.first else { return talk.missed() }
            talk.reports(.anomaly(text))
        }
        congest()
        congest()
        talk.say(.notified(address: ProxyTalk.address, handle: 14, value: [1]))
        talk.reports(.notified(Self.link, [1]))
        congest()
        congest()
        talk.ends()
        congest()
        talk.says(.deviceRequest(address: ProxyTalk.address, .disconnect, addressType: nil))
        talk.ends()
    }

    @Test("Notifications that a congested proxy could not enable are no sign of other handles")
    func congestedSubscription() {
        var talk = Self.linked()
        talk.say(.services(address: ProxyTalk.address, ProxyTalk.services), .servicesDone(address: ProxyTalk.address))
        talk.passOver()
        talk.say(.gattError(address: ProxyTalk.address, handle: 15, error: 0x8F))
        guard case .reports(.anomaly)? = talk.acts.first else { return talk.missed() }
        #expect(
            talk.acts.dropFirst() == [
                .says(.deviceRequest(address: ProxyTalk.address, .disconnect, addressType: nil))
            ])
        talk.passOver()
        talk.say(.deviceConnection(address: ProxyTalk.address, isConnected: false, mtu: 0, error: 0x16))
        talk.reports(.disconnected(Self.link, .localHostTerminated))
        talk.ends()
    }

    @Test("A request whose link has ended is no failure of the button, and the next link is made without cache")
    func failedSubscription() {
        var talk = ProxyTalk.ready()
        talk.attach()
        talk.when(.perform(.keepDiscovery(Self.link)))
        func end() {
            for _ in 0..<2 {
                talk.say(.deviceConnection(address: ProxyTalk.address, isConnected: false, mtu: 0, error: 0x3E))
                talk.passOver()
            }
        }
        end()
        talk.when(.perform(.attempt(Self.hall)))
        talk.says(.deviceRequest(address: ProxyTalk.address, .connectWithCache, addressType: 0))
        talk.say(.deviceConnection(address: ProxyTalk.address, isConnected: true, mtu: 23, error: 0))
        talk.passOver()
        talk.say(.gattError(address: ProxyTalk.address, handle: 15, error: 0x85))
        talk.says(.deviceRequest(address: ProxyTalk.address, .disconnect, addressType: nil))
        talk.ends()
        end()
        talk.when(.perform(.attempt(Self.hall)))
        talk.says(.deviceRequest(address: ProxyTalk.address, .connectWithoutCache, addressType: 0))
        talk.ends()
    }

    @Test("An attempt that fails is reported; one that the proxy never answers is, too")
    func attemptFails() {
        var talk = ProxyTalk.ready()
        talk.when(.perform(.attempt(Self.hall)))
        talk.passOver()
        talk.say(.deviceConnection(address: ProxyTalk.address, isConnected: false, mtu: 0, error: 0x3E))
        talk.reports(.attemptFailed(Self.hall))
        talk.when(.perform(.attempt(Self.hall)))
        talk.passOver()
        for _ in 0..<2 {
            talk.wait(.seconds(10))
            talk.passOver()
            talk.say(.pingResponse)
        }
        talk.wait(.seconds(5))
        #expect(
            talk.acts == [
                .reports(.attemptFailed(Self.hall)),
                .says(.deviceRequest(address: ProxyTalk.address, .disconnect, addressType: nil)),
            ])
    }

    @Test("A link that comes up when the button is not expected any more is ended, and a foreign one is, too")
    func unwanted() {
        var talk = ProxyTalk.ready()
        talk.when(.perform(.attempt(Self.hall)))
        talk.passOver()
        talk.when(.perform(.expect([], unwanted: [])))
        talk.say(.deviceConnection(address: ProxyTalk.address, isConnected: true, mtu: 23, error: 0))
        talk.reports(.attemptFailed(Self.hall))
        talk.says(.deviceRequest(address: ProxyTalk.address, .disconnect, addressType: nil))
        talk.say(.connectionsFree(free: 1, limit: 3, allocated: [ProxyTalk.address, 0x1122]))
        talk.says(.deviceRequest(address: 0x1122, .disconnect, addressType: nil))
        talk.say(.connectionsFree(free: 1, limit: 3, allocated: [ProxyTalk.address, 0x1122]))
        talk.ends()
    }

    @Test("The proxy's slots and the configuration limit the links; the last one is reported once")
    func room() {
        var talk = ProxyTalk.ready(slots: 1)
        talk.when(.perform(.attempt(Self.hall)))
        talk.passOver()
        // The proxy reports its slots when an attempt begins, and not when it has succeeded.
        talk.say(.connectionsFree(free: 0, limit: 1, allocated: [ProxyTalk.address]))
        talk.say(.deviceConnection(address: ProxyTalk.address, isConnected: true, mtu: 131, error: 0))
        talk.reports(.connected(Self.link, Self.hall))
        talk.reports(.linkLimitReached(1))
        talk.says(.getServices(address: ProxyTalk.address))
        talk.say(.connectionsFree(free: 0, limit: 1, allocated: [ProxyTalk.address]))
        let bath = BluetoothAddress(rawValue: 0x80E4_DA7B_0002)
        talk.when(
            .perform(.expect([ExpectedButton(Self.hall, .flic2), ExpectedButton(bath, .flic2)], unwanted: [])))
        talk.when(.perform(.attempt(bath)))
        talk.say(.deviceConnection(address: ProxyTalk.address, isConnected: false, mtu: 0, error: 0x13))
        talk.reports(.disconnected(Self.link, .remoteUserTerminated))
        talk.say(.connectionsFree(free: 1, limit: 1, allocated: []))
        talk.says(.deviceRequest(address: bath.rawValue, .connectWithoutCache, addressType: 0))
        talk.ends()
    }

    @Test("A slot that an attempt has taken is subtracted once, whether or not the proxy has said so yet")
    func slotsOfAttempts() {
        let bath = BluetoothAddress(rawValue: 0x80E4_DA7B_0002)
        for isSaid in [false, true] {
            var talk = ProxyTalk.ready(slots: 2)
            talk.when(
                .perform(.expect([ExpectedButton(Self.hall, .flic2), ExpectedButton(bath, .flic2)], unwanted: [])))
            talk.when(.perform(.attempt(Self.hall)))
            talk.says(.deviceRequest(address: ProxyTalk.address, .connectWithoutCache, addressType: 0))
            if isSaid { talk.say(.connectionsFree(free: 1, limit: 2, allocated: [ProxyTalk.address])) }
            talk.when(.perform(.attempt(bath)))
            talk.says(.deviceRequest(address: bath.rawValue, .connectWithoutCache, addressType: 0))
            talk.ends()
        }
        // A link that the proxy has not subtracted yet takes a slot, too.
        var talk = ProxyTalk.ready(slots: 1)
        talk.attach()
        talk.when(
            .perform(.expect([ExpectedButton(Self.hall, .flic2), ExpectedButton(bath, .flic2)], unwanted: [])))
        talk.when(.perform(.attempt(bath)))
        talk.ends()
    }

    @Test("An attempt at a button whose link is still ending fails at once")
    func attemptWhileEnding() {
        var talk = ProxyTalk.ready()
        talk.attach()
        talk.when(.perform(.disconnect(Self.link)))
        talk.passOver()
        talk.when(.perform(.attempt(Self.hall)))
        talk.reports(.attemptFailed(Self.hall))
        talk.ends()
    }

    @Test("An attempt that had to wait for a slot for more than 1.5 s is not made")
    func lateAttempt() {
        var talk = ProxyTalk.ready(slots: 1)
        talk.attach()
        let bath = BluetoothAddress(rawValue: 0x80E4_DA7B_0002)
        talk.when(
            .perform(.expect([ExpectedButton(Self.hall, .flic2), ExpectedButton(bath, .flic2)], unwanted: [])))
        talk.say(.connectionsFree(free: 0, limit: 1, allocated: [ProxyTalk.address]))
        talk.passOver()
        talk.when(.perform(.attempt(bath)))
        talk.wait(.seconds(2))
        talk.say(.deviceConnection(address: ProxyTalk.address, isConnected: false, mtu: 0, error: 0x13))
        talk.passOver()
        talk.say(.connectionsFree(free: 1, limit: 1, allocated: []))
        talk.reports(.attemptFailed(bath))
        talk.ends()
    }

    @Test("Slots that others have given back are room again")
    func foreignSlots() {
        var talk = ProxyTalk.ready()
        talk.attach()
        talk.say(.connectionsFree(free: 0, limit: 3, allocated: [ProxyTalk.address]))
        talk.reports(.linkLimitReached(1))
        talk.say(.connectionsFree(free: 2, limit: 3, allocated: [ProxyTalk.address]))
        talk.reports(.linkFreed)
        talk.ends()
    }

    @Test("A proxy with a link is not deaf, however quiet it is, and one that fell silent may still believe in us")
    func quiet() {
        var talk = ProxyTalk.ready()
        talk.attach()
        for _ in 0..<20 {
            talk.wait(.seconds(10))
            talk.says(.pingRequest)
            talk.say(.pingResponse)
        }
        talk.wait(.seconds(20))
        guard case .says(.pingRequest)? = talk.acts.first, case .reports(.failed(_, .absent))? = talk.acts.last else {
            return talk.missed()
        }
        talk.passOver()
        talk.when(.closed)
        talk.openUntilDeviceIsKnown()
        talk.wait(.seconds(3))
        talk.says(.subscribeAdvertisements(flags: 1))
        talk.says(.subscribeConnectionsFree)
        talk.ends()
    }

    @Test("A known button that another radio looks for is reported, whatever its address")
    func elsewhere() {
        var talk = ProxyTalk.ready()
        let strange = BluetoothAddress(rawValue: 0x1234_5600_0001)
        talk.when(.perform(.expect([], unwanted: [], elsewhere: [strange])))
        talk.say(.rawAdvertisements([RawAdvertisement(address: strange.rawValue, rssi: -50, data: [2, 1, 6])]))
        talk.reports(.heard(HeardAdvertisement(kind: .connectable, address: strange, rssi: -50)))
        talk.ends()
    }

    @Test("A search makes the scanner active, and advertisements of new buttons are reported with their scan responses")
    func search() {
        var talk = ProxyTalk.ready()
        let uuid: [UInt8] = [
            0x93, 0xE4, 0x17, 0xB6, 0xF3, 0x84, 0x0D, 0x87, 0x20, 0x44, 0x59, 0x8F, 0x00, 0x00, 0x42, 0x00,
        ]
        let new = RawAdvertisement(
            address: 0x80E4_DA7B_0009, rssi: -50, data: [17, 7] + uuid + [8, 0xFF, 0x0F, 0x03, 1, 2, 3, 4, 2])
        talk.say(.rawAdvertisements([new]))
        talk.when(.perform(.listen(.active)))
        talk.says(.setScannerMode(isActive: true))
        talk.say(.rawAdvertisements([new, RawAdvertisement(address: 0x1234, rssi: -40, data: [2, 1, 6])]))
        let address = BluetoothAddress(rawValue: 0x80E4_DA7B_0009)
        talk.reports(
            .heard(
                HeardAdvertisement(
                    kind: .connectable, address: address, rssi: -50, service: .flic2, isConnectedElsewhere: true)))
        talk.reports(
            .heard(
                HeardAdvertisement(
                    kind: .scanResponse, address: address, rssi: -50, service: .flic2, isConnectedElsewhere: true)))
        talk.when(.perform(.listen(.off)))
        talk.says(.setScannerMode(isActive: false))
        talk.ends()
    }

    @Test("At the end of the program the proxy is told that nobody uses it any more")
    func leaving() {
        var talk = ProxyTalk.ready()
        talk.when(.perform(.goodbye))
        talk.says(.unsubscribeAdvertisements)
        talk.says(.disconnectRequest)
        talk.ends()
        talk = ProxyTalk()
        talk.when(.perform(.goodbye))
        talk.ends()
    }

    @Test("A link of an earlier connection is not written to, and a proxy that says goodbye is gone")
    func goodbye() {
        var talk = ProxyTalk.ready()
        talk.attach()
        talk.say(.disconnectRequest)
        talk.says(.disconnectResponse)
        guard case .reports(.failed(_, .restarting))? = talk.acts.first else { return talk.missed() }
        talk.passOver()
        talk.when(.closed)
        talk.when(.perform(.write(Self.link, [1])))
        talk.when(.perform(.disconnect(Self.link)))
        talk.ends()
    }

    /// A link to the button of the hall, whose services are being discovered.
    private static func linked(slots: UInt32 = 3) -> ProxyTalk {
        var talk = ProxyTalk.ready(slots: slots)
        talk.when(.perform(.attempt(hall)))
        talk.passOver()
        talk.say(.connectionsFree(free: slots - 1, limit: slots, allocated: [ProxyTalk.address]))
        talk.passOver()
        talk.say(.deviceConnection(address: ProxyTalk.address, isConnected: true, mtu: 140, error: 0))
        talk.passOver()
        return talk
    }

    @Test(
        "A link that the proxy no longer names among those with a slot has ended",
        arguments: [(2, [0x1122]), (3, [])] as [(UInt32, [UInt64])])
    func unnamed(free: UInt32, allocated: [UInt64]) {
        var talk = Self.linked()
        talk.say(.connectionsFree(free: free, limit: 3, allocated: allocated))
        talk.reports(.disconnected(Self.link, .unknown))
        for address in allocated { talk.says(.deviceRequest(address: address, .disconnect, addressType: nil)) }
        talk.when(.perform(.attempt(Self.hall)))
        talk.says(.deviceRequest(address: ProxyTalk.address, .connectWithoutCache, addressType: 0))
        talk.ends()
    }

    @Test("The links of a proxy that names none stay")
    func namesNone() {
        var talk = Self.linked()
        talk.say(.connectionsFree(free: 2, limit: 3, allocated: []))
        talk.ends()
    }

    @Test("A proxy that keeps the slot of a link which we have ended is asked again every 10 s, until the slot is free")
    func keptSlot() {
        var talk = Self.linked()
        talk.when(.perform(.disconnect(Self.link)))
        talk.says(.deviceRequest(address: ProxyTalk.address, .disconnect, addressType: nil))
        Self.wait(10, &talk)
        talk.reports(.disconnected(Self.link, .localHostTerminated))
        for _ in 0..<3 {
            Self.wait(10, &talk)
            talk.says(.deviceRequest(address: ProxyTalk.address, .disconnect, addressType: nil))
        }
        talk.say(.deviceConnection(address: ProxyTalk.address, isConnected: false, mtu: 0, error: 0))
        talk.say(.connectionsFree(free: 3, limit: 3, allocated: []))
        Self.wait(30, &talk)
        talk.ends()
    }

    @Test("A slot that is not reported as free for 10 s is asked for, and used when the proxy answers")
    func neverReleased() {
        var talk = Self.linked()
        talk.say(.deviceConnection(address: ProxyTalk.address, isConnected: false, mtu: 0, error: 8))
        talk.reports(.disconnected(Self.link, .connectionTimeout))
        talk.when(.perform(.attempt(Self.hall)))
        Self.wait(10, &talk)
        // The attempt has waited for too long.
        talk.reports(.attemptFailed(Self.hall))
        talk.says(.deviceRequest(address: ProxyTalk.address, .disconnect, addressType: nil))
        talk.when(.perform(.attempt(Self.hall)))
        talk.say(.deviceConnection(address: ProxyTalk.address, isConnected: false, mtu: 0, error: 0))
        talk.says(.deviceRequest(address: ProxyTalk.address, .connectWithoutCache, addressType: 0))
        talk.ends()
    }
}

extension ProxyTalk {
    /// Makes the first link to the button of the hall.
    mutating func attach() {
        when(.perform(.attempt(Self.hall)))
        passOver()
        say(.deviceConnection(address: Self.address, isConnected: true, mtu: 131, error: 0))
        passOver()
        say(.services(address: Self.address, Self.services), .servicesDone(address: Self.address))
        passOver()
        say(.writeResponse(address: Self.address, handle: 15))
        passOver()
    }
}

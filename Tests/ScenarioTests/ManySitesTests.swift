import ButtonModel
import Feed
import Hub
import Testing

@Suite("An engine with many sites")
struct ManySitesTests {
    private static func site(_ number: Int) -> String { "tryck/s\(number)" }

    private static func button(_ number: Int, of site: Int) -> ButtonID {
        ButtonID(BluetoothAddress(rawValue: 0x80E4_DA01_0000 + UInt64(site * 256 + number)))
    }

    private static func hello(of site: Int, buttons: Int, session: Int = 1, name: String = "") -> [UInt8] {
        let facts = (0..<buttons).map { number in
            (
                button(number, of: site),
                FeedHello.Button(
                    serial: "BA01-A\(site)-\(number)", model: .flic2, name: number == 0 ? name : "", firmware: 11,
                    battery: nil, last: 0, claimed: 0)
            )
        }
        return FeedHello(
            site: self.site(site), installation: "9f3c", session: session, term: 0,
            buttons: Dictionary(uniqueKeysWithValues: facts)
        ).encoded()
    }

    /// Declares one button of each site, and has a rule for it.
    private static func rules(sites: Int) -> HouseRules {
        let buttons = (0..<sites).map { site in
            let octets = Array(button(0, of: site).description)
            let pairs = stride(from: 0, to: octets.count, by: 2).map { String(octets[$0..<$0 + 2]).uppercased() }
            return "  first\(site): {address: \"\(pairs.joined(separator: ":"))\"}"
        }
        let rules = (0..<sites).map { site in
            "  - {id: rule\(site), triggers: {button: first\(site), event: down}, "
                + "actions: {publish: {topic: lamp, payload: \"\(site)\"}}}"
        }
        return HouseRules(
            stringLiteral: (["version: 1", "buttons:"] + buttons + ["rules:"] + rules).joined(separator: "\n"))
    }

    #if DEBUG
        @Test("the hello of a site costs the resolving of its own buttons, however many other sites there are")
        func cost() {
            var house = EngineHouse.leading(.lamp)
            let before = house.hub.resolvedCount
            for site in 0..<12 { house.hear("\(Self.site(site))/feed/hello", Self.hello(of: site, buttons: 5)) }
            #expect(house.hub.resolvedCount - before == 60)
        }

        @Test("the same hello again, and that of a site that has come back, resolve nothing")
        func repeated() {
            var house = EngineHouse.leading(.lamp)
            for site in 0..<3 { house.hear("\(Self.site(site))/feed/hello", Self.hello(of: site, buttons: 5)) }
            let before = house.hub.resolvedCount
            house.hear("\(Self.site(1))/feed/hello", Self.hello(of: 1, buttons: 5))
            house.hear("\(Self.site(1))/feed/hello", [])
            house.hear("\(Self.site(1))/feed/hello", Self.hello(of: 1, buttons: 5, session: 2))
            #expect(house.hub.resolvedCount == before)
        }
    #endif

    @Test("a press right after the hello that makes its button known starts the rule for this button")
    func pressAfterHello() {
        var house = EngineHouse.leading(Self.rules(sites: 4))
        for site in [2, 0, 3, 1] {
            house.hear("\(Self.site(site))/feed/hello", Self.hello(of: site, buttons: 3))
            let press = house.hear(1, from: Self.site(site), of: Self.button(0, of: site))
            #expect(EngineHouse.story(press).filter { $0.hasPrefix("lamp") } == ["lamp \(site)"])
            #expect(house.buttons.contains(#""name":"first\#(site)""#))
            let other = house.hear(1, from: Self.site(site), of: Self.button(1, of: site))
            #expect(!EngineHouse.story(other).contains { $0.hasPrefix("lamp") })
        }
    }

    @Test("a new name at a site applies to rules at once, also in the hello that adds a button")
    func renamed() {
        var house = EngineHouse.leading(
            """
            version: 1
            buttons:
              hall: {nickname: Hallway}
            rules:
              - {id: hall, triggers: {button: hall, event: down}, actions: {publish: {topic: lamp, payload: hall}}}
            """)
        house.hear("\(Self.site(1))/feed/hello", Self.hello(of: 1, buttons: 2))
        let before = house.hear(1, from: Self.site(1), of: Self.button(0, of: 1))
        #expect(!EngineHouse.story(before).contains("lamp hall"))
        house.hear("\(Self.site(1))/feed/hello", Self.hello(of: 1, buttons: 3, name: "Hallway"))
        let after = house.hear(2, from: Self.site(1), of: Self.button(0, of: 1))
        #expect(EngineHouse.story(after).contains("lamp hall"))
    }
}

import MQTTTopics
import TestSupport
import Testing

@Suite("Topics of requests to a button")
struct ButtonTopicsTests {
    private let topics = Topics(base: "home/tryck")

    @Test("the level between base topic and set or get names the button, whatever it contains")
    func requests() {
        #expect(topics.buttonFilters == ["home/tryck/+/set", "home/tryck/+/get"])
        #expect(topics.buttonRequest(of: "home/tryck/80e4da010203/set") == .set("80e4da010203"))
        #expect(topics.buttonRequest(of: "home/tryck/80e4da010203/get") == .get("80e4da010203"))
        #expect(topics.buttonRequest(of: "home/tryck/Küche 🛏️/get") == .get("Küche 🛏️"))
    }

    @Test("a button's name in a topic has at most 64 octets", arguments: [1, 64, 65])
    func length(_ length: Int) {
        let word = String(repeating: "x", count: length)
        #expect(topics.buttonRequest(of: "home/tryck/\(word)/set") == (length > 64 ? nil : .set(word)))
    }

    @Test(
        "other topics are no request to a button",
        arguments: [
            "home/tryck/variables/lights/set", "home/tryck/rules/hall/enabled/set", "home/tryck/rules/set",
            "home/tryck/variables/set", "home/tryck/bridge/set", "home/tryck/bridge/get", "home/tryck//set",
            "home/tryck/set", "home/tryck/80e4da010203", "home/tryck/80e4da010203/state", "home/tryck/a/b/set",
            "home/tryck/80e4da010203/set/", "/home/tryck/80e4da010203/set", "tryck/80e4da010203/set",
            "home/tryckx/80e4da010203/set", "home/tryckx/set", "home/tryck/+/set", "home/tryck/#/set",
            "home/tryck/a+/get",
            "home/tryck", "",
        ])
    func others(topicName: String) {
        #expect(topics.buttonRequest(of: topicName) == nil)
    }

    @Test("a button's name in a topic has no control characters")
    func controlCharacters() {
        for octet in UInt8(0)...0x7F {
            let character = Character(UnicodeScalar(octet))
            let isTaken = octet >= 0x20 && octet != 0x7F && !"/+#".contains(character)
            #expect((topics.buttonRequest(of: "home/tryck/a\(character)/set") != nil) == isTaken, "\(octet)")
        }
    }

    @Test("a combining character after a slash is a name of its own")
    func combining() {
        #expect(topics.buttonRequest(of: "home/tryck/\u{301}/set") == .set("\u{301}"))
    }

    @Test("no topic name traps or gives a name that could change a topic", arguments: UInt64(0)..<100)
    func hostile(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let octets = random.bytes(Int.random(in: 0...80, using: &random))
        let level = String(decoding: octets, as: UTF8.self)
        for topicName in [level, "home/tryck/\(level)", "home/tryck/\(level)/set", "home/tryck/a/\(level)"] {
            switch topics.buttonRequest(of: topicName) {
            case .set(let word), .get(let word):
                #expect(word.utf8.allSatisfy { !Array("/+#".utf8).contains($0) && $0 >= 0x20 })
                #expect((1...64).contains(word.utf8.count))
            case nil: break
            }
        }
    }
}

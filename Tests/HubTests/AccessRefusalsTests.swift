import Testing

@testable import Hub

@Suite("What the access rules of a broker refuse")
struct AccessRefusalsTests {
    @Test(
        "a refusal names the topics of all buttons, once, until the broker has taken a message of one of them",
        arguments: [("", "/+"), ("/cursor", "/+/cursor"), ("/done", "/+/done"), ("/want", "/+/want")])
    func topics(end: String, filter: String) {
        var refusals = AccessRefusals("the broker refuses to let this engine")
        let (first, second) = ("tryck/berlin7/feed/80e4da000001\(end)", "tryck/berlin7/feed/80e4da000002\(end)")
        let sentence = refusals.publishFailed(first, "Not authorized")
        #expect(
            sentence
                == "the broker refuses to let this engine write tryck/berlin7/feed\(filter): Not authorized; "
                + "allow it in the broker's access rules")
        #expect(refusals.list == ["write tryck/berlin7/feed\(filter)"] && refusals.fault == sentence)
        #expect(refusals.publishFailed(second, "Not authorized") == nil)
        #expect(refusals.publishFailed("tryck/berlin7/feed/hello", "the message is too large") == nil)
        refusals.published(second)
        #expect(refusals.list == [])
    }
}

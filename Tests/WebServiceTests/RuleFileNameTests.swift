import Testing

@testable import WebService

@Suite("Names of rule files in paths")
struct RuleFileNameTests {
    @Test(
        "a name is decoded once",
        arguments: [
            (["home.yaml"], "home.yaml"), (["rooms", "a b.yaml"], "rooms/a b.yaml"), (["a%20b"], "a b"),
            (["%C3%A4"], "ä"), (["%252F"], "%2F"), ([".."], ".."),
        ] as [([Substring], String)])
    func decoded(segments: [Substring], name: String) { #expect(RuleFileName.decoded(segments) == name) }

    @Test(
        "others are no names",
        arguments: [
            [], [""], ["a", ""], ["a%2Fb"], ["%2e%2e%2f"], ["a%"], ["a%2"], ["%zz"], ["%+1"], ["%00"], ["%FF"],
        ]
            as [[Substring]])
    func refused(segments: [Substring]) { #expect(RuleFileName.decoded(segments) == nil) }
}

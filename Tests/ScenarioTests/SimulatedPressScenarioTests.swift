import JSON
import Simulator
import Testing

@Suite("Requests that press simulated buttons")
struct SimulatedPressScenarioTests {
    private static func answer(_ house: inout Household, _ button: String) -> JSONValue {
        let data: JSONValue = ["button": .string(button), "press": "click"]
        house.ask(#"{"request":"simulator/press","data":\#(data)}"#)
        return house.responses.last ?? .null
    }

    @Test("a button is called as in the simulator file, as in the rules, or by its name, serial number, address or id")
    func names() {
        var house = Household(
            rules: """
                version: 1
                buttons: {stove: BA00-K00001, door: {address: "80:E4:DA:00:00:02"}}
                rules: [{id: one, triggers: {button: [stove, door], event: down}, actions: {publish: {topic: out}}}]
                """)
        // The rules call a button so that is not paired yet.
        #expect(Self.answer(&house, "door")["data"] == ["button": "hall", "press": "click"])
        house.pairAll()
        house.ask(#"{"request":"button/rename","data":{"id":"BA00-H00002","to":"By the door"}}"#)
        for (name, button) in [
            ("kitchen", "kitchen"), ("stove", "kitchen"), ("BA00-K00001", "kitchen"), ("ba00-k00001", "kitchen"),
            ("80:E4:DA:00:00:01", "kitchen"), ("80e4da000001", "kitchen"), ("door", "hall"), ("By the door", "hall"),
            ("hall", "hall"),
        ] {
            let before = house.payloads(on: "out").count
            #expect(Self.answer(&house, name)["data"] == ["button": .string(button), "press": "click"], "\(name)")
            house.wait(.seconds(2))
            #expect(house.payloads(on: "out").count == before + 1, "\(name)")
        }
    }

    @Test("a nickname that two buttons have is refused")
    func ambiguous() {
        var twins = [Household.kitchen, Household.hall]
        for index in twins.indices { twins[index].nickname = "Twin" }
        var house = Household(twins)
        house.pairAll()
        #expect(Self.answer(&house, "Twin")["error"] == #"2 simulated buttons are called "Twin"; use a serial number"#)
    }

    @Test("a press that the button's model cannot do is refused, and presses nothing")
    func model() {
        var house = Household()
        house.pairAll()
        house.forgetWhatHappened()
        house.ask(
            #"{"request":"simulator/press","data":{"button":"kitchen","press":"swipe_up","models":["duo"]}}"#)
        #expect(house.responses.last?["error"] == "kitchen is a Flic 2, which has no swipe_up")
        house.wait(.seconds(2))
        #expect(house.published.isEmpty)
        house.ask(
            #"{"request":"simulator/press","data":{"button":"kitchen","press":"click","models":["duo","flic2"]}}"#)
        #expect(house.responses.last?["status"] == "ok")
    }

    @Test("a name that does not exist gets a suggestion, or the names that there are")
    func unknown() {
        var house = Household(
            rules: "version: 1\nbuttons: {stove: BA00-K00001, cellar: BA00-C00009}\nrules: []\n")
        for (name, sentence) in [
            ("kichen", #"there is no simulated button "kichen"; did you mean "kitchen"?"#),
            ("stov", #"there is no simulated button "stov"; did you mean "stove"?"#),
            // The rules have this button, and the simulator has not.
            ("cellar", #"there is no simulated button "cellar"; the simulated buttons are hall, kitchen"#),
            ("attic", #"there is no simulated button "attic"; the simulated buttons are hall, kitchen"#),
        ] { #expect(Self.answer(&house, name)["error"] == .string(sentence)) }
        house.pairAll()
        house.ask(#"{"request":"button","data":{"id":"hal"}}"#)
        #expect(house.responses.last?["error"] == #"there is no button "hal"; did you mean "hall"?"#)
    }
}

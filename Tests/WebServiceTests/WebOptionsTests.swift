import Setup
import Testing

@testable import WebService

@Suite("The command line of tryck-web")
struct WebOptionsTests {
    @Test("each option has a value, attached or after it")
    func options() {
        var expected = WebOptions()
        expected.configuration = "a"
        expected.stateDirectory = "b"
        expected.controlSocket = "c"
        expected.publicFolder = "d"
        #expect(
            WebOptions.parse(["--config", "a", "--state-directory=b", "--control-socket", "c", "--public=d"])
                == .run(expected))
        #expect(WebOptions.parse([]) == .run(WebOptions()))
        #expect(WebOptions.parse(["-h"]) == .help)
        #expect(WebOptions.parse(["--version"]) == .version)
    }

    @Test("what is no option is named", arguments: [["--config"], ["--config="], ["--listen", "x"], ["x"]])
    func wrong(arguments: [String]) {
        guard case .usage(let sentence) = WebOptions.parse(arguments) else {
            Issue.record("\(arguments)")
            return
        }
        #expect(sentence.contains("tryck-web --help"))
    }
}

import Testing

@testable import WebService

@Suite("Refusals as pages")
struct FailurePageTests {
    @Test(
        "a browser that opens an address wants a page, and programs and scripts do not",
        arguments: [
            (["text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"], true), (["*/*", "Text/HTML;level=1"], true),
            (["application/xml, text/html ;q=0.9"], true),
            (["*/*"], false), (["text/event-stream"], false), (["application/json, text/htmlx"], false), ([], false),
        ])
    func wanted(accept: [String], isWanted: Bool) {
        #expect(FailurePage.isWanted(isChange: false, accept: accept) == isWanted)
        #expect(!FailurePage.isWanted(isChange: true, accept: accept))
    }

    @Test("the page says the sentence, and nothing of the request becomes markup")
    func sentence() {
        let page = FailurePage.text("there is no file <img src=x>&\"'", path: "/<img", advice: .home)
        #expect(page.contains("<p>There is no file &lt;img src=x&gt;&amp;&quot;&#39;.</p>"))
        #expect(!page.contains("<img"))
    }

    @Test(
        "addresses are relative, as only a proxy knows its prefix",
        arguments: [("/", ""), ("/a", ""), ("/a/b/", "../../")])
    func relative(path: String, base: String) {
        let page = FailurePage.text("no", path: path, advice: .home)
        #expect(page.contains("href=\"\(base)base.css\""))
        #expect(page.contains("<a href=\"\(base.isEmpty ? "./" : base)\">"))
    }

    @Test(
        "from an address outside of the page, the addresses lead to the page", arguments: [("/", ""), ("/a/b", "../")])
    func outside(path: String, base: String) {
        let page = FailurePage.text("the page is at /tryck/", path: path, home: "tryck/", advice: .home)
        #expect(page.contains("href=\"\(base)tryck/base.css\"") && page.contains("<a href=\"\(base)tryck/\">"))
    }

    @Test(
        "a link that was used is answered with how to get another, and with the way to the password if there is one",
        arguments: [true, false])
    func link(hasPassword: Bool) {
        let page = FailurePage.text("this link was used", path: "/", advice: .link(hasPassword: hasPassword))
        #expect(page.contains("<p>This link was used.</p>") && page.contains("<code>tryck web</code>"))
        #expect(page.contains("<a href=\"./\">Sign in with the password instead</a>") == hasPassword)
    }
}

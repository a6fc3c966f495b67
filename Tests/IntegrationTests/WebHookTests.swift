import Foundation
import JSON
import Testing

/// Web hooks, with a server that prints its requests.
@Suite("Web hooks of rules", .serialized, .ownThread)
struct WebHookTests {
    /// Prints each request as a line of JSON, and answers by its path.
    private static let server = """
        import http.server, json, sys, time
        count = 0
        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *words): pass
            def answer(self):
                global count
                body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
                print(json.dumps({"method": self.command, "path": self.path, "body": body, "ms": int(time.monotonic() * 1000),
                                  "headers": {name.lower(): value for name, value in self.headers.items()}}), flush=True)
                word = self.path.split("?")[0].split("/")[1]
                status, headers = 200, {}
                if word == "flaky":
                    count += 1
                    status = 503 if count < 3 else 200
                elif word == "status": status = int(self.path.split("/")[2])
                elif word == "away": status, headers = 302, {"Location": "http://localhost:%d/stolen" % port}
                elif word == "moved": status, headers = 302, {"Location": "/here"}
                elif word == "hold": self.connection.recv(1); return
                self.send_response(status)
                for name in headers: self.send_header(name, headers[name])
                self.end_headers()
                self.wfile.write(b"answered " + word.encode())
            do_GET = do_POST = do_PUT = do_DELETE = answer
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        port = server.server_address[1]
        print("port", port, flush=True)
        server.serve_forever()
        """

    private func house(_ rules: (_ base: String) -> String) throws -> (RuleHouse, Program) {
        let python = try Program("/usr/bin/python3", ["-c", Self.server])
        let port = try python.line(containing: "port ").split(separator: " ").last ?? ""
        let house = try RuleHouse(
            "version: 1\nrules:\n" + rules("http://127.0.0.1:\(port)"),
            files: ["rules/secrets.yaml": "token: copper-4711\n"], hasBroker: false)
        return (house, python)
    }

    private func request(_ server: Program) throws -> JSONValue {
        try JSONValue(parsing: server.line(containing: #"{"method""#))
    }

    @Test("a request has the method, headers and body of the step, and values are escaped")
    func request() throws {
        let (house, server) = try house { base in
            """
              - id: posts
                triggers: {button: any, event: click}
                actions:
                  - http:
                      url: "\(base)/a/{{ 'x/../y z?&#é' }}/b?q={{ 'a&b=c d' }}"
                      method: PUT
                      headers: {X-Token: !secret token, X-Rule: "{{ rules.posts.running }}"}
                      json: {late: "{{ trigger.queued }}", text: "\\"{{ 'x' }}\\"", list: [1, null]}
                    save_as: answer
                  - log: "{{ results.answer.status }} {{ results.answer.ok }} {{ results.answer.body }}"
              - id: smuggles
                triggers: {button: any, event: click}
                actions:
                  - http: {url: "\(base)/smuggled", headers: {X-Evil: "{{ 'a\\r\\nX-Other: b' }}"}}
              - id: text
                triggers: {button: any, event: click}
                actions: {http: {url: "\(base)/text", method: POST, body: "plain {{ 1 + 1 }}", headers: {Content-Type: text/x}}}
            """
        }
        try house.run("posts")
        #expect(try house.logged() == "200 true answered a")
        let first = try request(server)
        #expect(first["method"] == "PUT")
        #expect(first["path"] == "/a/x%2F..%2Fy%20z%3F%26%23%C3%A9/b?q=a%26b%3Dc%20d")
        #expect(first["body"] == #"{"late":false,"text":"\"x\"","list":[1,null]}"#)
        #expect(first["headers"]?["x-token"] == "copper-4711" && first["headers"]?["x-rule"] == "1")
        #expect(first["headers"]?["content-type"] == "application/json")
        try house.run("smuggles")
        try house.watch.line(containing: #""code":"R832""#)
        try house.run("text")
        let second = try request(server)
        #expect(
            second["path"] == "/text" && second["body"] == "plain 2" && second["headers"]?["content-type"] == "text/x")
        for text in [house.daemon.text, house.watch.text, try house.tryck("rule", "posts", "trace")] {
            #expect(!text.contains("copper-4711"))
        }
    }

    @Test("a failed request is tried again after growing waits, and an unexpected status or a timeout is a failure")
    func failures() throws {
        let (house, server) = try house { base in
            """
              - id: retries
                triggers: {button: any, event: click}
                actions:
                  - http: {url: "\(base)/flaky"}
                    retry: {count: 2, delay: 100ms, backoff: 3}
                    save_as: answer
                  - log: "{{ results.answer.status }}"
              - id: expects
                triggers: {button: any, event: click}
                actions:
                  - http: {url: "\(base)/status/404", expect: [404, 3xx]}
                    save_as: answer
                  - log: "{{ results.answer.ok }} {{ results.answer.status }}"
                  - http: {url: "\(base)/status/204", expect: 200}
                on_error: {log: "{{ error.code }} {{ error.step }} {{ error.message }}"}
              - id: waits
                triggers: {button: any, event: click}
                actions: {http: {url: "\(base)/hold"}, timeout: 300ms}
                on_error: {log: "{{ error.code }}"}
              - id: nobody
                triggers: {button: any, event: click}
                actions: {http: {url: "http://127.0.0.1:1/"}, continue_on_error: true, save_as: answer}
                on_error: {log: not reached}
            """
        }
        try house.run("retries")
        #expect(try house.logged() == "200")
        let times = try (0..<3).map { _ in try request(server)["ms"]?.integerValue ?? 0 }
        #expect(times[1] - times[0] >= 95 && times[2] - times[1] >= 290, "\(times)")
        try house.run("expects")
        #expect(try house.logged() == "true 404")
        let failure = try house.logged()
        #expect(failure.hasPrefix("R823 actions[2].http ") && failure.contains("204"), "\(failure)")
        try house.run("waits")
        #expect(try house.logged() == "R821")
        try house.run("nobody")
        try house.watch.line(containing: #""rule":"nobody","run":4,"outcome":"completed""#)
    }

    @Test("a redirect is followed on the same host only")
    func redirects() throws {
        let (house, server) = try house { base in
            """
              - id: moves
                triggers: {button: any, event: click}
                actions: [{http: {url: "\(base)/moved"}, save_as: answer}, {log: "{{ results.answer.body }}"}]
              - id: leaves
                triggers: {button: any, event: click}
                actions: {http: {url: "\(base)/away", headers: {Authorization: !secret token}}}
                on_error: {log: "{{ error.code }} {{ error.message }}"}
            """
        }
        try house.run("moves")
        #expect(try house.logged() == "answered here")
        try house.run("leaves")
        #expect(try house.logged().hasPrefix("R823 "))
        try house.run("moves")
        #expect(try house.logged() == "answered here")
        #expect(!server.text.contains("stolen"))
    }

    @Test("with actions.http: false in tryck.yaml, http is an error in the rules")
    func forbidden() throws {
        let house = try RuleHouse(
            """
            version: 1
            rules:
              - id: posts
                triggers: {button: any, event: click}
                actions: [{http: {url: "http://127.0.0.1:1/"}}, {shell: "true"}, {run: ["true"]}]
            """, hasBroker: false, configuration: "actions: {http: false, shell: false, run: false}")
        for key in ["http", "shell", "run"] {
            #expect(house.daemon.text.contains("actions.\(key)"), "\(house.daemon.text)")
        }
        #expect(house.daemon.text.contains("3 errors"))
        #expect(try house.tryck("rules", "--json") == "[]")
        #expect(try house.tryck("check", house.workshop.path("tryck.yaml"), status: 1).contains("actions.http"))
    }
}

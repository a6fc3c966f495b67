import ButtonModel
import CCurl
import DiskTestSupport
import Glibc
import Hub
import Reactor
import ReactorTestSupport
import Rules
import Synchronization
import TestSupport
import Testing

@testable import Edges
@testable import Platform

@Suite("Web requests")
struct HTTPEdgeTests {
    // MARK: What is sent

    @Test("a request has the given method, headers and body, and no other headers than Host, Accept and Content-Length")
    func echo() async throws {
        let result = try await answer(
            "/echo?a=b%20c", "POST", headers: ["X-One: 1", "Content-Type: application/json", "X-Empty:"],
            body: Array(#"{"a":1}"#.utf8))
        #expect(result.outcome == .answered(status: 200))
        #expect(result.note == nil)
        #expect(result.duration > .zero)
        let (head, body) = result.parts
        #expect(head.first == "POST /echo?a=b%20c HTTP/1.1")
        #expect(
            head.dropFirst().filter { !$0.hasPrefix("Host: 127.0.0.1:") }
                == ["Accept: */*", "X-One: 1", "Content-Type: application/json", "X-Empty: ", "Content-Length: 7"])
        #expect(body == #"{"a":1}"#)
    }

    @Test("a body of 900 kB arrives completely, without a Content-Type that the rule does not give")
    func largeBody() async throws {
        let result = try await answer("/echo", "PUT", body: [UInt8](repeating: 0x61, count: 900_000))
        let (head, body) = result.parts
        #expect(head.contains("Content-Length: 900000"))
        #expect(!head.contains { $0.hasPrefix("Content-Type") || $0.hasPrefix("Expect") })
        #expect(body.allSatisfy { $0 == "a" })
    }

    @Test("a POST without a body says so, and a GET says nothing of one")
    func emptyBody() async throws {
        #expect(try await answer("/echo", "POST").parts.head.contains("Content-Length: 0"))
        #expect(try await answer("/echo", "PUT").parts.head.contains("Content-Length: 0"))
        #expect(!(try await answer("/echo", "GET").parts.head.contains { $0.hasPrefix("Content-Length") }))
        #expect(try await answer("/echo", "DELETE").parts.head.first == "DELETE /echo HTTP/1.1")
    }

    @Test("a HEAD has a status and no body")
    func head() async throws {
        let result = try await answer("/status/204", "HEAD")
        #expect(result.outcome == .answered(status: 204))
        #expect(result.body == [])
    }

    @Test("a status of any kind is an answer", arguments: [200, 201, 304, 404, 500, 599])
    func status(status: Int) async throws {
        #expect(try await answer("/status/\(status)").outcome == .answered(status: status))
    }

    @Test(
        "what is no request is refused",
        arguments: [
            ("ftp://127.0.0.1/", "GET", [], "its URL does not begin with http:// or https://"),
            ("file:///etc/passwd", "GET", [], "its URL does not begin with http:// or https://"),
            ("127.0.0.1/", "GET", [], "its URL does not begin with http:// or https://"),
            ("http://127.0.0.1/a b", "GET", [], "its URL contains a blank or a control character"),
            ("http://127.0.0.1/\r\nX: y", "GET", [], "its URL contains a blank or a control character"),
            ("http://127.0.0.1/\0", "GET", [], "its URL contains a blank or a control character"),
            ("http://127.0.0.1/", "GET / HTTP/1.1\r\nX: y", [], "\"GET / HTTP/1.1\r\nX: y\" is not a method"),
            ("http://127.0.0.1/", "", [], "\"\" is not a method"),
            ("http://127.0.0.1/", "GET", ["X: a\r\nY: b"], "a header does not have the form \"Name: value\""),
            ("http://127.0.0.1/", "GET", ["X: a\0"], "a header does not have the form \"Name: value\""),
            ("http://127.0.0.1/", "GET", ["X"], "a header does not have the form \"Name: value\""),
            ("http://127.0.0.1/", "GET", [": x"], "a header does not have the form \"Name: value\""),
        ] as [(String, String, [String], String)])
    func noRequest(url: String, method: String, headers: [String], sentence: String) async throws {
        let request = HTTPAction(url: url, method: method, headers: headers)
        try await withReactor {
            let result = await HTTPEdge(loop: .shared).result(of: request)
            #expect(result.outcome == .failed(sentence))
        }
    }

    // MARK: What comes back

    @Test(
        "of a megabyte the first 64 KiB are kept and the rest is read; one octet more ends it",
        arguments: ["body", "chunked"])
    func huge(path: String) async throws {
        let most = path == "body" ? HTTPEdge.maximumAnswer : 1_048_000
        let result = try await answer("/\(path)/\(most)")
        #expect(result.outcome == .answered(status: 200))
        #expect(result.body.count == HTTPEdge.maximumBody)
        let longer = try await answer("/\(path)/\(most + (path == "body" ? 1 : 1000))")
        #expect(longer.outcome == .failed("the answer has more than 1 MiB"))
    }

    @Test("an answer that is too long is refused also if its last octets wait for the next turn of the loop")
    func pausedAtTheEnd() async throws {
        let server = try TestWebServer()
        defer { server.stop() }
        try await withReactor {
            let edge = HTTPEdge(loop: .shared)
            let results = Happenings<HTTPResult>()
            // Together they use up the turns, so transfers are paused at any octet.
            let count = 64
            for id in 0..<count {
                let request = server.request("/body/\(HTTPEdge.maximumAnswer + 1 + 16 * id)")
                // These 64 MiB may take minutes on a busy machine.
                edge.start(UInt64(id), request, timeout: .seconds(3600)) { results.add($0) }
            }
            for _ in 0..<count {
                let outcome = await results.next().outcome
                #expect(outcome == .failed("the answer has more than 1 MiB"))
            }
        }
    }

    @Test("headers have 64 KiB; one octet more, and trailers or responses without an end, end the transfer")
    func headers() async throws {
        let most = HTTPEdge.maximumHeaders
        #expect(try await answer("/headers/\(most)").outcome == .answered(status: 200))
        for path in ["/headers/\(most + 1)", "/trailers", "/heads"] {
            let result = try await answer(path, timeout: .seconds(20))
            #expect(result.outcome == .failed("the answer has more than 64 KiB of headers"), "\(path)")
        }
        for path in ["/long/header", "/long/trailer"] {
            let result = try await answer(path, timeout: .seconds(20))
            #expect(result.outcome == .failed("the answer has a line of headers that is too long"), "\(path)")
        }
    }

    @Test("what is compressed and was not asked for is not taken")
    func compressed() async throws {
        #expect(try await answer("/gzip").outcome == .failed("the answer is compressed, which was not requested"))
    }

    @Test("all answers together take one budget of octets in a turn of the loop", arguments: [false, true])
    func turns(isEncrypted: Bool) async throws {
        let certificates = try Certificates()
        let directory = certificates.directory.path
        let server = try TestWebServer(
            certificate: isEncrypted ? (directory + "/broker.crt", directory + "/broker.key") : nil)
        defer { server.stop() }
        try await withReactor {
            let edge = HTTPEdge(loop: .shared, authorities: directory + "/ca.crt")
            let results = Happenings<HTTPResult>()
            let paths = ["/chunked/900000", "/trailers", "/extensions", "/body/1000000", "/endless"]
            for id in 0..<30 {
                var request = server.request(paths[id % paths.count])
                if isEncrypted { request.url = "https://localhost:\(server.port)\(paths[id % paths.count])" }
                edge.start(UInt64(id), request, timeout: .seconds(2)) { results.add($0) }
            }
            for _ in 0..<30 { _ = await results.next() }
            #expect(edge.mostBodyInTurn > 0)
            // The last piece that may begin has at most 16 KiB.
            #expect(edge.mostBodyInTurn <= TurnBudget.octets + 16 * 1024)
        }
    }

    @Test(
        "an endless extension of a chunk is ended when the server has sent 16 MiB, also with TLS",
        arguments: [false, true])
    func extensions(isEncrypted: Bool) async throws {
        let files = try Certificates()
        let directory = files.directory.path
        let server = try TestWebServer(
            certificate: isEncrypted ? (directory + "/broker.crt", directory + "/broker.key") : nil)
        defer { server.stop() }
        try await withReactor {
            let edge = HTTPEdge(loop: .shared, authorities: directory + "/ca.crt")
            let scheme = isEncrypted ? "https" : "http"
            let request = HTTPAction(url: "\(scheme)://localhost:\(server.port)/extensions")
            // Each is counted for itself.
            for _ in 0..<2 {
                let result = await edge.result(of: request, timeout: .seconds(30))
                #expect(result.outcome == .failed("the server sends more than 16 MiB for one answer"))
            }
        }
    }

    @Test("an answer that does not come is ended by the time limit")
    func timeLimit() async throws {
        let result = try await answer("/hold", timeout: .milliseconds(300))
        #expect(result.outcome == .failed("there was no answer within 0.3 seconds"))
        #expect(result.duration >= .milliseconds(300))
        #expect(result.duration < .seconds(5))
    }

    @Test("what is no HTTP is no answer")
    func garbage() async throws {
        #expect(try await answer("/garbage").outcome == .failed("the answer is not HTTP"))
        #expect(try await answer("/nothing").outcome == .failed("Empty reply from server"))
    }

    @Test("a refused connection and an unknown host are failures, whose sentences do not contain the path")
    func unreachable() async throws {
        try await withReactor {
            let edge = HTTPEdge(loop: .shared)
            let port = freePort()
            let refused = await edge.result(of: HTTPAction(url: "http://127.0.0.1:\(port)/secret?token=1"))
            guard case .failed(let sentence) = refused.outcome else { throw Unexpected() }
            #expect(sentence.hasPrefix("Failed to connect to 127.0.0.1 port \(port)"))
            #expect(!sentence.contains("secret") && !sentence.contains("token"))
            let unknown = await edge.result(of: HTTPAction(url: "http://no-such-host.invalid/secret"))
            #expect(unknown.outcome == .failed("Could not resolve host: no-such-host.invalid"))
        }
    }

    // MARK: Redirects

    @Test("a redirect on the same host is followed", arguments: [301, 302, 303, 307, 308])
    func redirect(status: Int) async throws {
        let result = try await answer(
            "/redirect/\(status)//echo", "POST", headers: ["X-One: 1", "Content-Type: text/plain"],
            body: Array("hi".utf8))
        #expect(result.outcome == .answered(status: 200))
        let (head, body) = result.parts
        #expect(head.contains("X-One: 1"))
        let keeps = status > 303
        #expect(head.first == (keeps ? "POST /echo HTTP/1.1" : "GET /echo HTTP/1.1"))
        #expect(head.contains("Content-Type: text/plain") == keeps)
        #expect(body == (keeps ? "hi" : ""))
    }

    @Test("a redirect to another host or port is an answer like any other, with a note")
    func foreignRedirect() async throws {
        let host = try await answer("/redirect/302/http://localhost:1/echo")
        #expect(host.outcome == .answered(status: 302))
        #expect(host.body == Array("elsewhere".utf8))
        #expect(host.note == "its redirect to another host, localhost, is not followed")
        let port = try await answer("/redirect/307/http://127.0.0.1:1/echo")
        #expect(port.outcome == .answered(status: 307))
        #expect(port.note == "its redirect to another port, 1, is not followed")
        let scheme = try await answer("/redirect/302/file:///etc/passwd")
        #expect(scheme.outcome == .answered(status: 302))
        #expect(scheme.note == "its redirect has no http or https URL")
    }

    @Test("five redirects are followed and the sixth is not")
    func redirectBound() async throws {
        let path = { (count: Int) in String(repeating: "/redirect/302/", count: count) + "/echo" }
        #expect(try await answer(path(5)).outcome == .answered(status: 200))
        #expect(try await answer(path(6)).outcome == .failed("it is redirected more than 5 times"))
        #expect(try await answer("/round").outcome == .failed("it is redirected more than 5 times"))
    }

    @Test("hosts, ports and schemes of redirects are compared as libcurl reads them")
    func places() throws {
        try #require(ccurlIsThere())
        func verdict(_ from: String, _ to: String) -> HTTPRedirect {
            HTTPRedirect(of: HTTPAction(url: from), 302, to: to)
        }
        func follows(_ from: String, _ to: String) -> Bool {
            if case .follow(let next) = verdict(from, to) { next.url == to } else { false }
        }
        #expect(follows("http://a/x", "http://A:80/y"))
        #expect(follows("https://a/x", "https://a:443/y"))
        #expect(follows("http://a/x", "https://a/y"))
        #expect(follows("http://a:8080/x", "https://a:8443/y"))
        #expect(!follows("http://a/x", "http://a:81/y"))
        #expect(!follows("https://a/x", "https://a:444/y"))
        #expect(!follows("http://a/x", "http://a.b/y"))
        #expect(!follows("http://a/x", "http://a@b/y"))
        #expect(!follows("http://a/x", "http://b#@a/y"))
        #expect(
            verdict("https://a/x", "http://a/y") == .refused("its redirect from https to http is not followed"))
        #expect(HTTPRedirect(of: HTTPAction(url: "http://a/"), 304, to: "http://a/b") == .none)
        #expect(HTTPRedirect(of: HTTPAction(url: "http://a/"), 302, to: nil) == .none)
    }

    // MARK: TLS

    @Test("a certificate must come from a known authority and be for the host")
    func certificates() async throws {
        let files = try Certificates()
        let server = try TestWebServer(
            certificate: (files.directory.path + "/broker.crt", files.directory.path + "/broker.key"))
        defer { server.stop() }
        try await withReactor {
            let good = HTTPEdge(loop: .shared, authorities: files.directory.path + "/ca.crt")
            let request = HTTPAction(url: "https://localhost:\(server.port)/echo")
            #expect(await good.result(of: request).outcome == .answered(status: 200))

            let system = await HTTPEdge(loop: .shared).result(of: request)
            guard case .failed(let sentence) = system.outcome else { throw Unexpected() }
            #expect(sentence.hasPrefix("SSL certificate problem: "))

            let wrongName = await good.result(of: HTTPAction(url: "https://127.0.0.1:\(server.port)/echo"))
            guard case .failed(let sentence) = wrongName.outcome else { throw Unexpected() }
            #expect(sentence.contains("127.0.0.1"))

            let downgrade = await good.result(
                of: HTTPAction(
                    url: "https://localhost:\(server.port)/redirect/302/http://localhost:\(server.port)/echo"))
            #expect(downgrade.outcome == .answered(status: 302))
            #expect(downgrade.note == "its redirect from https to http is not followed")
        }
    }

    @Test("a server that changes its key again and again does not hold the loop")
    func keyUpdates() async throws {
        let files = try Certificates()
        let count = 20_000
        let server = try KeyUpdateServer(
            files, keyUpdates: count, first: Array("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n".utf8), last: [0x78])
        defer { server.stop() }
        try await withReactor {
            let edge = HTTPEdge(loop: .shared, authorities: files.directory.path + "/ca.crt")
            let turn = EventLoop.shared.turn
            let result = await edge.result(
                of: HTTPAction(url: "https://localhost:\(server.port)/"), timeout: .seconds(100))
            #expect(result.outcome == .answered(status: 200))
            #expect(result.body == [0x78])
            let fewest = UInt64(count * KeyUpdateServer.octets / Int(CCURL_OCTETS_PER_CALL))
            #expect(EventLoop.shared.turn - turn >= fewest)
        }
    }

    @Test("a request that is cancelled does not read what a server sends without end")
    func cancelledKeyUpdates() async throws {
        let files = try Certificates()
        let server = try KeyUpdateServer(
            files, keyUpdates: 20_000, first: Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nx".utf8), last: [0x78])
        defer { server.stop() }
        try await withReactor {
            let edge = HTTPEdge(loop: .shared, authorities: files.directory.path + "/ca.crt")
            let results = Happenings<HTTPResult>()
            edge.start(1, HTTPAction(url: "https://localhost:\(server.port)/"), timeout: .seconds(100)) {
                results.add($0)
            }
            while edge.mostBodyInTurn == 0 { await pause(milliseconds: 1) }
            #expect(processorTime { edge.cancel(1) } < .milliseconds(20))
            #expect(await results.next().outcome == .failed("it was cancelled"))
        }
    }

    @Test("the loop goes on while libcurl is loaded, and while the authorities are read")
    func preparedElsewhere() async throws {
        let files = try Certificates()
        let authority = files.directory.path + "/ca.crt"
        let server = try TestWebServer(
            certificate: (files.directory.path + "/broker.crt", files.directory.path + "/broker.key"))
        defer { server.stop() }
        let pipe = files.directory.path + "/pipe"
        try #require(mkfifo(pipe, 0o600) == 0)
        let (loading, reading) = (Gate(), Gate())
        onThread {
            let (source, target) = (open(authority, O_RDONLY), open(pipe, O_WRONLY))
            // The reader has opened the pipe.
            reading.wait()
            var octets = [UInt8](repeating: 0, count: 64 * 1024)
            let count = read(source, &octets, octets.count)
            write(target, octets, max(0, count))
            for file in [source, target] { close(file) }
        }
        try await withReactor {
            let edge = HTTPEdge(loop: .shared, authorities: pipe) {
                loading.wait()
                return HTTPPreparation.openLibrary()
            }
            let results = Happenings<HTTPResult>()
            let request = HTTPAction(url: "https://localhost:\(server.port)/echo")
            edge.start(1, request, timeout: .seconds(60)) { results.add($0) }
            await loading.open()
            await reading.open()
            #expect(await results.next().outcome == .answered(status: 200))
        }
        #expect(loading.isPassed)
        #expect(reading.isPassed)
    }

    @Test("a file without authorities fails the requests with TLS, and no others")
    func noAuthorities() async throws {
        let server = try TestWebServer()
        defer { server.stop() }
        try await withReactor {
            let edge = HTTPEdge(loop: .shared, authorities: "/nonexistent/ca.crt")
            let results = Happenings<HTTPResult>()
            edge.start(1, HTTPAction(url: "https://localhost:\(server.port)/echo"), timeout: .seconds(60)) {
                results.add($0)
            }
            edge.start(2, server.request("/echo"), timeout: .seconds(60)) { results.add($0) }
            let sentence = "no certificates of authorities can be read from /nonexistent/ca.crt"
            #expect(await results.next().outcome == .failed(sentence))
            #expect(await results.next().outcome == .answered(status: 200))
        }
    }

    @Test("a libcurl that cannot be loaded fails all requests that wait for it, and is tried again for the next")
    func unloadable() async throws {
        let server = try TestWebServer()
        defer { server.stop() }
        try await withReactor {
            let tries = Atomic(0)
            let edge = HTTPEdge(loop: .shared) {
                tries.add(1, ordering: .relaxed).newValue == 1 ? "there is none" : HTTPPreparation.openLibrary()
            }
            let results = Happenings<HTTPResult>()
            for id in UInt64(1)...2 {
                edge.start(id, server.request("/echo"), timeout: .seconds(60)) { results.add($0) }
            }
            for _ in 1...2 { #expect(await results.next().outcome == .failed("there is none")) }
            edge.start(3, server.request("/echo"), timeout: .seconds(60)) { results.add($0) }
            #expect(await results.next().outcome == .answered(status: 200))
        }
    }

    @Test("the file of authorities is read for the first connection only, because that takes long")
    func authoritiesAreKept() async throws {
        let files = try Certificates()
        let certificate = (files.directory.path + "/broker.crt", files.directory.path + "/broker.key")
        let servers = [try TestWebServer(certificate: certificate), try TestWebServer(certificate: certificate)]
        defer { for server in servers { server.stop() } }
        try await withReactor {
            let authorities = files.directory.path + "/ca.crt"
            let edge = HTTPEdge(loop: .shared, authorities: authorities)
            for server in servers {
                let result = await edge.result(of: HTTPAction(url: "https://localhost:\(server.port)/echo"))
                #expect(result.outcome == .answered(status: 200))
                unlink(authorities)
            }
        }
    }

    @Test("authorities that cannot be read again remain in use")
    func oldAuthorities() async throws {
        let files = try Certificates()
        let certificate = (files.directory.path + "/broker.crt", files.directory.path + "/broker.key")
        let server = try TestWebServer(certificate: certificate)
        defer { server.stop() }
        let preparations = Mutex(0)
        try await withReactor {
            let authorities = files.directory.path + "/ca.crt"
            let edge = HTTPEdge(loop: .shared, authorities: authorities, authoritiesLifetime: .zero) {
                preparations.withLock { $0 += 1 }
                return HTTPPreparation.openLibrary()
            }
            // One preparation begins after another one has ended, so before the third the second has failed.
            for _ in 1...1000 where preparations.withLock({ $0 }) < 3 {
                let result = await edge.result(of: HTTPAction(url: "https://localhost:\(server.port)/echo"))
                #expect(result.outcome == .answered(status: 200))
                unlink(authorities)
            }
            #expect(preparations.withLock { $0 } >= 3)
        }
    }

    // MARK: Many, and their end

    @Test("a request that is cancelled ends at once, wherever it is")
    func cancelled() async throws {
        let server = try TestWebServer()
        defer { server.stop() }
        try await withReactor {
            let edge = HTTPEdge(loop: .shared)
            let counter = HTTPEdge(loop: .shared)
            let results = Happenings<HTTPResult>()
            edge.start(1, server.request("/hold"), timeout: .seconds(60)) { results.add($0) }
            await counter.wait(for: 1, at: server)
            edge.cancel(1)
            edge.cancel(1)
            edge.cancel(2)
            #expect(results.takeAll() == [], "nothing is reported from inside a call")
            #expect(await results.next().outcome == .failed("it was cancelled"))
            await counter.wait(for: 0, at: server)
            #expect(results.takeAll() == [])

            // Before it has so much as connected.
            edge.start(3, server.request("/echo"), timeout: .seconds(60)) { results.add($0) }
            edge.cancel(3)
            #expect(await results.next().outcome == .failed("it was cancelled"))
        }
    }

    @Test("thirty-two run at once, the next in line begins when one of them ends, and cancelAll ends them all")
    func concurrency() async throws {
        let server = try TestWebServer()
        defer { server.stop() }
        try await withReactor {
            let edge = HTTPEdge(loop: .shared)
            let counter = HTTPEdge(loop: .shared)
            let results = Happenings<HTTPResult>()
            for id in 1...33 {
                edge.start(UInt64(id), server.request("/hold"), timeout: .seconds(60)) { results.add($0) }
            }
            edge.start(34, server.request("/echo"), timeout: .milliseconds(200)) { results.add($0) }
            await counter.wait(for: 32, at: server)
            let late = await results.next()
            #expect(late.outcome == .failed("there was no answer within 0.2 seconds"), "in line until its time was up")
            #expect(late.duration == .zero)
            #expect(await counter.held(at: server) == 32)
            edge.cancel(7)
            #expect(await results.next().outcome == .failed("it was cancelled"))
            await counter.wait(for: 32, at: server)
            await withCheckedContinuation { done in edge.cancelAll { done.resume() } }
            #expect(results.takeAll().map(\.outcome) == Array(repeating: .failed("the daemon is stopping"), count: 32))
            await counter.wait(for: 0, at: server)
            edge.start(35, server.request("/echo"), timeout: .seconds(1)) { results.add($0) }
            #expect(await results.next().outcome == .failed("the daemon is stopping"))
        }
    }

    @Test("a request whose time is up in line takes no place when one of those that run ends")
    func timeUpInLine() async throws {
        let server = try TestWebServer()
        defer { server.stop() }
        try await withReactor {
            let edge = HTTPEdge(loop: .shared)
            let results = Happenings<HTTPResult.Outcome>()
            for id in 1...32 {
                edge.start(UInt64(id), server.request("/hold"), timeout: .seconds(60)) { results.add($0.outcome) }
            }
            edge.start(33, server.request("/echo"), timeout: .milliseconds(1)) { results.add($0.outcome) }
            #expect(await results.next() == .failed("there was no answer within 0.001 seconds"))
            edge.cancel(1)
            #expect(await results.next() == .failed("it was cancelled"))
            edge.start(34, server.request("/echo"), timeout: .seconds(30)) { results.add($0.outcome) }
            #expect(await results.next() == .answered(status: 200))
            for id in UInt64(2)...32 { edge.cancel(id) }
            for _ in 2...32 { #expect(await results.next() == .failed("it was cancelled")) }
        }
    }

    @Test("a request that is cancelled in line by the end of a running one is not sent")
    func cancelledByEnd() async throws {
        let server = try TestWebServer()
        defer { server.stop() }
        let (listener, port) = listenOnLoopback()
        defer { close(listener) }
        try await withReactor {
            let edge = HTTPEdge(loop: .shared)
            let results = Happenings<(Int, HTTPResult)>()
            for id in 1...32 {
                edge.start(UInt64(id), server.request("/hold"), timeout: .seconds(60)) {
                    if id == 1 { edge.cancel(33) }
                    results.add((id, $0))
                }
            }
            edge.start(33, HTTPAction(url: "http://127.0.0.1:\(port)/"), timeout: .seconds(60)) {
                results.add((33, $0))
            }
            edge.start(34, server.request("/echo"), timeout: .seconds(60)) { results.add((34, $0)) }
            edge.cancel(1)
            let (first, second, third) = (await results.next(), await results.next(), await results.next())
            #expect([first.0, second.0, third.0] == [1, 33, 34])
            #expect(first.1.outcome == .failed("it was cancelled") && second.1.outcome == .failed("it was cancelled"))
            #expect(second.1.duration == .zero, "it has not begun")
            // If the 33rd had been sent, its connection would have begun before that of the 34th.
            #expect(third.1.outcome == .answered(status: 200))
            var connection = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
            #expect(poll(&connection, 1, 0) == 0)
            await withCheckedContinuation { done in edge.cancelAll { done.resume() } }
        }
    }

    @Test("what finds the line full is refused")
    func fullLine() async throws {
        let (listener, port) = listenOnLoopback()
        defer { close(listener) }
        try await withReactor {
            let edge = HTTPEdge(loop: .shared)
            let results = Happenings<(UInt64, HTTPResult)>()
            let places = UInt64(JobQueue.maximumRunning + JobQueue.maximumWaiting)
            for id in 0...places {
                edge.start(id, HTTPAction(url: "http://127.0.0.1:\(port)/"), timeout: .seconds(60)) {
                    results.add((id, $0))
                }
            }
            let (id, result) = await results.next()
            #expect(id == places)
            #expect(result.outcome == .failed("1024 requests are already waiting"))
            await withCheckedContinuation { done in edge.cancelAll { done.resume() } }
            #expect(results.takeAll().count == Int(places))
        }
    }
}

private func ccurlIsThere() -> Bool { HTTPPreparation.openLibrary() == nil }

/// Holds a thread until another one opens the gate, for ten seconds at most.
private final class Gate: Sendable {
    private let ends = socketPair()
    private let wasReached = Atomic(false)
    private let wasPassed = Atomic(false)

    var isPassed: Bool { wasPassed.load(ordering: .relaxed) }

    /// Opens the gate as soon as the other thread has reached it.
    @ReactorActor
    func open() async {
        while !wasReached.load(ordering: .relaxed) { await pause(milliseconds: 1) }
        write(ends.far, [1], 1)
    }

    func wait() {
        wasReached.store(true, ordering: .relaxed)
        var descriptor = pollfd(fd: ends.near, events: Int16(POLLIN), revents: 0)
        if poll(&descriptor, 1, 10_000) == 1 { wasPassed.store(true, ordering: .relaxed) }
    }

    deinit {
        close(ends.near)
        close(ends.far)
    }
}

/// Sends a request to a server of its own.
private func answer(
    _ path: String, _ method: String = "GET", headers: [String] = [], body: [UInt8] = [],
    timeout: Duration = .seconds(30)
) async throws -> HTTPResult {
    let server = try TestWebServer()
    defer { server.stop() }
    var request = server.request(path)
    request.method = method
    request.headers = headers
    request.body = body
    return try await withReactor { [request] in
        await HTTPEdge(loop: .shared).result(of: request, timeout: timeout)
    }
}

extension TestWebServer {
    fileprivate func request(_ path: String) -> HTTPAction { HTTPAction(url: "http://127.0.0.1:\(port)\(path)") }
}

extension HTTPEdge {
    fileprivate func result(of request: HTTPAction, timeout: Duration = .seconds(30)) async -> HTTPResult {
        await withCheckedContinuation { done in
            start(0, request, timeout: timeout) { [self] result in
                // Keeps the object alive until then.
                _ = self
                done.resume(returning: result)
            }
        }
    }

    fileprivate func held(at server: TestWebServer) async -> Int? {
        Int(String(decoding: await result(of: server.request("/held")).body, as: UTF8.self))
    }

    /// Asks until that many requests are held.
    fileprivate func wait(for count: Int, at server: TestWebServer) async {
        while await held(at: server) != count { await pause(milliseconds: 5) }
    }
}

extension HTTPResult {
    /// The head and the body of an answer of `/echo`.
    fileprivate var parts: (head: [String], body: String) {
        let text = String(decoding: body, as: UTF8.self)
        let end = text.firstRange(of: "\n\n")
        let head = text[..<(end?.lowerBound ?? text.endIndex)].split(separator: "\n").map(String.init)
        return (head, String(text[(end?.upperBound ?? text.endIndex)...]))
    }
}

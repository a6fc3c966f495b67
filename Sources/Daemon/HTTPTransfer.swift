import ButtonModel
import CCurl
import Hub
import Rules

/// libcurl with its pool of connections.
final class HTTPClient {
    /// What the callbacks of a call said. A socket that is closed and whose number comes back in one call is there twice.
    final class Notes {
        var sockets: [(socket: Int32, wants: Int32)] = []
        /// Milliseconds from the call until the timer; negative: none.
        var timeout: Int?
    }

    let notes = Notes()
    let multi: UnsafeMutableRawPointer

    init() throws(HTTPTransfer.Failure) {
        if let reason = ccurl_open() { throw HTTPTransfer.Failure(sentence: String(cString: reason)) }
        let multi = ccurl_multi(
            { _, socket, wants, context, _ in
                guard let context else { return 0 }
                Unmanaged<Notes>.fromOpaque(context).takeUnretainedValue().sockets.append((socket, wants))
                return 0
            },
            { _, milliseconds, context in
                guard let context else { return 0 }
                Unmanaged<Notes>.fromOpaque(context).takeUnretainedValue().timeout = milliseconds
                return 0
            }, Unmanaged.passUnretained(notes).toOpaque())
        guard let multi else { throw HTTPTransfer.Failure(sentence: "there is no memory for libcurl") }
        self.multi = multi
    }

    deinit { ccurl_multi_cleanup(multi) }

    func act(on socket: curl_socket_t) { ccurl_act(multi, socket) }

    func nextDone() -> (easy: UnsafeMutableRawPointer, code: CURLcode)? {
        var code = CURLE_OK
        return ccurl_next_done(multi, &code).map { ($0, code) }
    }
}

/// One request and its answer; a redirect is followed with a new one.
final class HTTPTransfer {
    struct Failure: Error {
        var sentence: String
    }

    /// What libcurl writes to.
    private final class Received {
        var body: [UInt8] = []
        /// libcurl's own words for what went wrong.
        let words = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

        init() { words.pointee = 0 }
        deinit { words.deallocate() }
    }

    let easy: UnsafeMutableRawPointer
    private let client: HTTPClient
    private let received = Received()
    private var headers: UnsafeMutablePointer<curl_slist>?
    private var isOpen = true

    /// Begins it.
    init(_ request: HTTPAction, authorities: String?, _ client: HTTPClient) throws(Failure) {
        guard let easy = ccurl_easy() else { throw Failure(sentence: "there is no memory for a request") }
        self.easy = easy
        self.client = client
        do throws(Failure) {
            try setUp(request, authorities)
            guard ccurl_add(client.multi, easy) == CURLM_OK else {
                throw Failure(sentence: "there is no memory for a request")
            }
        } catch {
            _ = close()
            throw error
        }
    }

    deinit { _ = close() }

    /// Ends it, wherever it is.
    ///
    /// - Returns: what was kept of the body.
    func close() -> [UInt8] {
        guard isOpen else { return [] }
        isOpen = false
        ccurl_remove(client.multi, easy)
        ccurl_easy_cleanup(easy)
        ccurl_free_list(headers)
        return received.body
    }

    /// 100…999
    var status: Int { ccurl_status(easy) }

    /// Where the answer leads, absolute.
    var redirect: String? { ccurl_redirect(easy).map { String(cString: $0) } }

    func sentence(for code: CURLcode) -> String {
        let words = String(cString: received.words)
        // Of a response that is none it says something about HTTP/0.9.
        if code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_WEIRD_SERVER_REPLY { return "the answer is not HTTP" }
        return words.isEmpty ? String(cString: ccurl_describe(code)) : words
    }

    // MARK: Options

    private func setUp(_ request: HTTPAction, _ authorities: String?) throws(Failure) {
        guard request.url.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw Failure(sentence: "its URL contains a blank or a control character")
        }
        guard let scheme = HTTPRedirect.part(CURLUPART_SCHEME, of: request.url), ["http", "https"].contains(scheme)
        else { throw Failure(sentence: "its URL does not begin with http:// or https://") }
        try set(CURLOPT_URL, request.url)
        try set(CURLOPT_PROTOCOLS_STR, "http,https")
        try set(CURLOPT_FOLLOWLOCATION, 0)
        try set(CURLOPT_SSL_VERIFYPEER, 1)
        try set(CURLOPT_SSL_VERIFYHOST, 2)
        if let authorities { try set(CURLOPT_CAINFO, authorities) }
        // Signals are the loop's.
        try set(CURLOPT_NOSIGNAL, 1)
        // Else whoever cancels waits for the resolver's thread.
        try set(CURLOPT_QUICK_EXIT, 1)
        try set(CURLOPT_CONNECTTIMEOUT_MS, Int(HTTPEdge.connectTimeout.milliseconds))
        try check(ccurl_set_pointer(easy, CURLOPT_ERRORBUFFER, received.words))
        try setMethod(of: request)
        try setHeaders(request.headers)
        try check(
            ccurl_set_writer(
                easy,
                { octets, size, count, context in
                    guard let octets, let context else { return 0 }
                    let received = Unmanaged<Received>.fromOpaque(context).takeUnretainedValue()
                    let wanted = HTTPEdge.maximumBody - received.body.count
                    received.body.append(
                        contentsOf: UnsafeRawBufferPointer(start: octets, count: min(size * count, wanted)))
                    return size * count
                }, Unmanaged.passUnretained(received).toOpaque()))
    }

    private func setMethod(of request: HTTPAction) throws(Failure) {
        let method = request.method
        guard !method.isEmpty, method.utf8.allSatisfy({ (0x41...0x5A).contains($0) }) else {
            throw Failure(sentence: "\"\(method)\" is not a method")
        }
        // These say how long their body is, even if there is none.
        if !request.body.isEmpty || ["POST", "PUT", "PATCH"].contains(method) {
            try check(ccurl_set_body(easy, request.body, curl_off_t(request.body.count)))
        }
        if method == "HEAD" { try set(CURLOPT_NOBODY, 1) }
        try set(CURLOPT_CUSTOMREQUEST, method)
    }

    private func setHeaders(_ lines: [String]) throws(Failure) {
        var given: Set<String> = []
        for line in lines {
            guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
                line.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 })
            else { throw Failure(sentence: "a header of it is not of the form \"Name: value\"") }
            let name = line[..<colon]
            given.insert(name.lowercased())
            // Without a value, libcurl takes "Name:" for a header that it is not to send.
            let isEmpty = line[colon...].dropFirst().allSatisfy { $0 == " " || $0 == "\t" }
            try append(isEmpty ? "\(name);" : line)
        }
        // What libcurl would add for a body; the first of them costs a second where the server does not answer it.
        for name in ["Expect", "Content-Type"] where !given.contains(name.lowercased()) { try append("\(name):") }
        try check(ccurl_set_pointer(easy, CURLOPT_HTTPHEADER, headers))
    }

    private func append(_ line: String) throws(Failure) {
        guard let longer = ccurl_append(headers, line) else {
            throw Failure(sentence: "there is no memory for a request")
        }
        headers = longer
    }

    private func set(_ option: CURLoption, _ value: Int) throws(Failure) {
        try check(ccurl_set_number(easy, option, value))
    }

    private func set(_ option: CURLoption, _ value: String) throws(Failure) {
        try check(ccurl_set_pointer(easy, option, value))
    }

    private func check(_ code: CURLcode) throws(Failure) {
        guard code == CURLE_OK else {
            throw Failure(sentence: "libcurl refuses an option: \(String(cString: ccurl_describe(code)))")
        }
    }
}

import ButtonModel
import CCurl
import Hub
import Reactor
import Rules

/// A libcurl multi handle, with its pool of connections.
final class HTTPClient {
    /// The requests of libcurl's callbacks during a call. A socket number that was closed and reused is listed twice.
    final class CallbackRequests {
        var sockets: [(socket: Int32, wants: Int32)] = []
        /// Milliseconds from the call until the timer; negative for no timer.
        var timeout: Int?
        /// Transfers that have used their share of this turn of the loop.
        var paused: [UnsafeMutableRawPointer] = []
        /// Octets that transfers received since `HTTPEdge` last set this to zero.
        var taken = 0
        /// The turn of the event loop in which libcurl is called.
        var turn: UInt64 = 0 {
            didSet { if turn != oldValue { bodyInTurn = 0 } }
        }
        /// Octets of the bodies of all transfers in this turn.
        var bodyInTurn = 0 {
            didSet { mostBodyInTurn = max(mostBodyInTurn, bodyInTurn) }
        }
        private(set) var mostBodyInTurn = 0
        /// The transfers whose sockets libcurl waits for. With HTTP/1.1, a connection has one transfer at a time.
        private var transfers: [Int32: UnsafeMutableRawPointer] = [:]
        /// The octets that each transfer has received from its socket. libcurl reports the octets of headers and bodies, but not
        /// those between them, such as the extensions of chunks. A server can send such octets without end.
        private var receivedOctets: [UnsafeMutableRawPointer: Int] = [:]
        /// Transfers that have received more than `HTTPEdge.maximumReceived`.
        var overlong: [UnsafeMutableRawPointer] = []

        func libcurlWants(_ wants: Int32, of socket: Int32, for transfer: UnsafeMutableRawPointer?) {
            sockets.append((socket, wants))
            transfers[socket] = wants == CURL_POLL_REMOVE ? nil : transfer
        }

        func received(_ count: Int, from socket: Int32) {
            guard let transfer = transfers[socket] else { return }
            let before = receivedOctets[transfer] ?? 0
            receivedOctets[transfer] = before + count
            if before <= HTTPEdge.maximumReceived, before + count > HTTPEdge.maximumReceived {
                overlong.append(transfer)
            }
        }

        /// Forgets a transfer that has ended, because a later one may have its address.
        func transferEnded(_ transfer: UnsafeMutableRawPointer) {
            paused.removeAll { $0 == transfer }
            overlong.removeAll { $0 == transfer }
            receivedOctets[transfer] = nil
            transfers = transfers.filter { $0.value != transfer }
        }
    }

    let callbackRequests = CallbackRequests()
    let multi: UnsafeMutableRawPointer

    /// libcurl must have been opened.
    init() throws(HTTPTransfer.Failure) {
        let multi = ccurl_multi(
            { easy, socket, wants, context, _ in
                guard let context else { return 0 }
                Unmanaged<CallbackRequests>.fromOpaque(context).takeUnretainedValue()
                    .libcurlWants(wants, of: socket, for: easy)
                return 0
            },
            { _, milliseconds, context in
                guard let context else { return 0 }
                Unmanaged<CallbackRequests>.fromOpaque(context).takeUnretainedValue().timeout = milliseconds
                return 0
            }, Unmanaged.passUnretained(callbackRequests).toOpaque())
        guard let multi else { throw HTTPTransfer.Failure(sentence: "there is no memory for libcurl") }
        self.multi = multi
    }

    deinit { ccurl_multi_cleanup(multi) }

    func act(on socket: curl_socket_t) {
        ccurl_act(
            multi, socket,
            { socket, count, context in
                guard let context else { return }
                Unmanaged<CallbackRequests>.fromOpaque(context).takeUnretainedValue().received(count, from: socket)
            }, Unmanaged.passUnretained(callbackRequests).toOpaque())
    }

    func resume(_ easy: UnsafeMutableRawPointer) { ccurl_unpause(easy) }

    func nextDone() -> (easy: UnsafeMutableRawPointer, code: CURLcode)? {
        var code = CURLE_OK
        return ccurl_next_done(multi, &code).map { ($0, code) }
    }
}

/// An HTTP request and its response. A redirect is followed with a new transfer.
final class HTTPTransfer {
    struct Failure: Error {
        var sentence: String
    }

    /// The target of libcurl's write callbacks.
    private final class Received {
        /// The limits of one transfer in one turn of the loop: octets received, and time. A transfer that reaches one of them
        /// pauses until the next turn.
        static let portion = 16 * 1024
        static let time: Duration = .milliseconds(2)

        var body: [UInt8] = []
        /// Why the server's answer is rejected.
        var refusal: String?
        /// libcurl's description of the error.
        let errorBuffer = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
        private let callbackRequests: HTTPClient.CallbackRequests
        private let easy: UnsafeMutableRawPointer
        /// Octets of the body, and of all headers and trailers.
        private var bodyCount = 0
        private var headerCount = 0
        private var turn: UInt64 = 0
        private var taken = 0
        private var begin = ContinuousClock.now

        init(_ callbackRequests: HTTPClient.CallbackRequests, _ easy: UnsafeMutableRawPointer) {
            self.callbackRequests = callbackRequests
            self.easy = easy
            errorBuffer.pointee = 0
        }
        deinit { errorBuffer.deallocate() }

        /// - Returns: the result of a libcurl write callback: the count, another number to end the transfer, or
        ///   `CURL_WRITEFUNC_PAUSE`, after which libcurl passes the same octets again.
        func takeBody(_ octets: UnsafeRawBufferPointer) -> Int {
            guard hasTime else {
                callbackRequests.paused.append(easy)
                return Int(CURL_WRITEFUNC_PAUSE)
            }
            took(octets.count)
            bodyCount += octets.count
            callbackRequests.bodyInTurn += octets.count
            guard bodyCount <= HTTPEdge.maximumAnswer else {
                refusal = "the answer has more than \(HTTPEdge.maximumAnswer >> 20) MiB"
                return 0
            }
            body.append(contentsOf: octets.prefix(HTTPEdge.maximumBody - body.count))
            return octets.count
        }

        func takeHeader(_ octets: UnsafeRawBufferPointer) -> Int {
            took(octets.count)
            headerCount += octets.count
            guard headerCount <= HTTPEdge.maximumHeaders else {
                refusal = "the answer has more than \(HTTPEdge.maximumHeaders >> 10) KiB of headers"
                return 0
            }
            // libcurl decompresses transfer codings even if they were not requested.
            let line = String(decoding: octets, as: UTF8.self).lowercased()
            let codings = line.dropFirst(18).split { ", \t\r\n".contains($0) }
            if line.hasPrefix("transfer-encoding:"), !codings.allSatisfy({ $0 == "chunked" || $0 == "identity" }) {
                refusal = "the answer is compressed, which was not requested"
                return 0
            }
            return octets.count
        }

        private func took(_ count: Int) {
            taken += count
            callbackRequests.taken += count
        }

        private var hasTime: Bool {
            let now = ContinuousClock.now
            if turn != callbackRequests.turn { (turn, taken, begin) = (callbackRequests.turn, 0, now) }
            // A single call of libcurl can serve many transfers, so the limit of a turn is checked here, too.
            return taken < Self.portion && now - begin < Self.time && callbackRequests.bodyInTurn < TurnBudget.octets
        }
    }

    let easy: UnsafeMutableRawPointer
    private let client: HTTPClient
    private let authorities: HTTPAuthorities
    private let received: Received
    private var headers: UnsafeMutablePointer<curl_slist>?
    private var isOpen = true

    /// Starts the transfer.
    init(_ request: HTTPAction, _ authorities: HTTPAuthorities, _ client: HTTPClient) throws(Failure) {
        guard let easy = ccurl_easy() else { throw Failure(sentence: "there is no memory for a request") }
        self.easy = easy
        self.client = client
        self.authorities = authorities
        received = Received(client.callbackRequests, easy)
        do throws(Failure) {
            try setUp(request)
            guard ccurl_add(client.multi, easy) == CURLM_OK else {
                throw Failure(sentence: "there is no memory for a request")
            }
        } catch {
            _ = close()
            throw error
        }
    }

    deinit { _ = close() }

    /// Ends the transfer in any state.
    ///
    /// - Returns: the octets of the body that were kept.
    func close() -> [UInt8] {
        guard isOpen else { return [] }
        isOpen = false
        ccurl_remove(client.multi, easy)
        ccurl_easy_cleanup(easy)
        ccurl_free_list(headers)
        return received.body
    }

    /// The HTTP status, 100…999.
    var status: Int { ccurl_status(easy) }

    /// The absolute URL of a redirect; `nil` if the response is none.
    var redirect: String? { ccurl_redirect(easy).map { String(cString: $0) } }

    /// True if the server's answer is rejected.
    var isRefused: Bool { received.refusal != nil }

    func sentence(for code: CURLcode) -> String {
        if let refusal = received.refusal { return refusal }
        let text = String(cString: received.errorBuffer)
        // libcurl describes these errors with a sentence about HTTP/0.9, which would not help a user.
        if code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_WEIRD_SERVER_REPLY { return "the answer is not HTTP" }
        // libcurl reports a line of headers or trailers that is longer than its buffer as a lack of memory.
        if code == CURLE_OUT_OF_MEMORY || text.hasPrefix("Out of memory") {
            return "the answer has a line of headers that is too long"
        }
        return text.isEmpty ? String(cString: ccurl_describe(code)) : text
    }

    // MARK: Options

    private func setUp(_ request: HTTPAction) throws(Failure) {
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
        try setAuthorities()
        // The event loop handles all signals.
        try set(CURLOPT_NOSIGNAL, 1)
        // Without it, closing a transfer waits for the resolver's thread.
        try set(CURLOPT_QUICK_EXIT, 1)
        try set(CURLOPT_CONNECTTIMEOUT_MS, Int(HTTPEdge.connectTimeout.milliseconds))
        // With HTTP/2, libcurl would buffer up to 32 MiB of a paused transfer.
        try set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
        // With TLS, libcurl processes up to a hundred of these buffers in one call.
        try set(CURLOPT_BUFFERSIZE, 1024)
        try set(CURLOPT_UPLOAD_BUFFERSIZE, 16 * 1024)
        try set(CURLOPT_HTTP_CONTENT_DECODING, 0)
        try check(ccurl_set_pointer(easy, CURLOPT_ERRORBUFFER, received.errorBuffer))
        try setMethod(of: request)
        try setHeaders(request.headers)
        try check(
            ccurl_set_writer(
                easy,
                { octets, size, count, context in
                    guard let context else { return 0 }
                    return Unmanaged<Received>.fromOpaque(context).takeUnretainedValue()
                        .takeBody(UnsafeRawBufferPointer(start: octets, count: size * count))
                }, Unmanaged.passUnretained(received).toOpaque()))
        try check(
            ccurl_set_header_writer(
                easy,
                { octets, size, count, context in
                    guard let context else { return 0 }
                    return Unmanaged<Received>.fromOpaque(context).takeUnretainedValue()
                        .takeHeader(UnsafeRawBufferPointer(start: octets, count: size * count))
                }, Unmanaged.passUnretained(received).toOpaque()))
    }

    private func setAuthorities() throws(Failure) {
        switch authorities {
        case .notNeeded, .unknown: break
        case .file(let path):
            try set(CURLOPT_CAINFO, path)
            // libcurl keeps the authorities that it has read for a day, but only without a directory of them.
            try check(ccurl_set_pointer(easy, CURLOPT_CAPATH, nil))
        case .read(let list): try check(ccurl_set_authorities(easy, list.pointer))
        }
    }

    private func setMethod(of request: HTTPAction) throws(Failure) {
        let method = request.method
        guard !method.isEmpty, method.utf8.allSatisfy({ (0x41...0x5A).contains($0) }) else {
            throw Failure(sentence: "\"\(method)\" is not a method")
        }
        // These methods have a Content-Length even without a body.
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
            else { throw Failure(sentence: "a header does not have the form \"Name: value\"") }
            let name = line[..<colon]
            given.insert(name.lowercased())
            // libcurl removes a header "Name:" without a value; "Name;" sends one with an empty value.
            let isEmpty = line[colon...].dropFirst().allSatisfy { $0 == " " || $0 == "\t" }
            try append(isEmpty ? "\(name);" : line)
        }
        // Headers that libcurl would add to a body. Without an answer to Expect, it would wait for a second.
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
            throw Failure(sentence: "libcurl rejects an option: \(String(cString: ccurl_describe(code)))")
        }
    }
}

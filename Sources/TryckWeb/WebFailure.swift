import HTTPTypes
import Hummingbird
import JSON
import NIOCore
import WebService

/// An error response: a status, and a sentence that tells the user what to do.
struct WebFailure: Error, HTTPResponseError {
    let status: HTTPResponse.Status
    let sentence: String
    var headers: HTTPFields = [:]
    /// What a page about the error advises.
    var advice = FailurePage.Advice.home
    /// Further members of the body.
    var members: [JSONValue.Member] = []

    init(
        _ status: HTTPResponse.Status, _ sentence: String, headers: HTTPFields = [:], members: [JSONValue.Member] = [],
        advice: FailurePage.Advice = .home
    ) {
        self.status = status
        self.sentence = sentence
        self.headers = headers
        self.members = members
        self.advice = advice
    }

    static func tooLong(_ limit: Int) -> WebFailure {
        WebFailure(.contentTooLarge, "a body has at most \(limit) octets; send less")
    }

    static let busy = WebFailure(.serviceUnavailable, "too much is computed at this moment; try again in a few seconds")

    var response: Response {
        var response = Response(json: .object([.init("error", .string(sentence))] + members), status: status)
        for field in headers { response.headers[field.name] = field.value }
        return response
    }

    /// The router calls this for errors of its routes and of what stands before them. Their requests have no base path.
    func response(from request: Request, context: some RequestContext) -> Response {
        response(to: request, path: request.uri.path)
    }

    /// A page for a browser that was led to the address, JSON for others.
    ///
    /// - Parameters:
    ///   - path: that of the request below the base path, or the whole path of a request that is not below it.
    ///   - home: the base path without its first slash, for a request that is not below it.
    func response(to request: Request, path: String, home: String = "") -> Response {
        let isChange = request.method != .get && request.method != .head
        guard FailurePage.isWanted(isChange: isChange, accept: request.headers[values: .accept]) else {
            return response
        }
        let text = FailurePage.text(
            sentence, path: String(path.prefix { $0 != "?" }), home: home, advice: advice)
        var response = Response(
            status: status, headers: [.contentType: "text/html; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
        for field in headers { response.headers[field.name] = field.value }
        return response
    }
}

extension Response {
    init(json: JSONValue, status: HTTPResponse.Status = .ok) {
        self.init(
            status: status, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: json.encoded())))
    }
}

extension HTTPField.Name {
    /// The header that marks requests of this page. Browsers do not let pages of other sites send it.
    static let mark = HTTPField.Name("X-Tryck")!
    static let referrerPolicy = HTTPField.Name("Referrer-Policy")!
    static let accelBuffering = HTTPField.Name("X-Accel-Buffering")!
    static let forwardedFor = HTTPField.Name("X-Forwarded-For")!
    static let lastEventID = HTTPField.Name("Last-Event-ID")!
}

package import Expressions

/// An `http` step.
package struct HTTPStep: Hashable, Sendable {
    /// Scheme and host are literal; inserted values are percent-encoded.
    package var url: Template
    /// The method, such as `GET` or `POST`.
    package var method: String
    package var headers: [ProcessStep.Variable]
    package var body: PayloadTemplate
    package var expectation: [ExpectedStatus]

    package init(
        url: Template, method: String = "GET", headers: [ProcessStep.Variable] = [], body: PayloadTemplate = .nothing,
        expectation: [ExpectedStatus] = [.family(2)]
    ) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
        self.expectation = expectation
    }
}

package enum ExpectedStatus: Hashable, Sendable {
    case exactly(Int)
    /// The first digit: 2 for `2xx`.
    case family(Int)

    package func admits(_ status: Int) -> Bool {
        switch self {
        case .exactly(let wanted): status == wanted
        case .family(let family): status / 100 == family
        }
    }
}

/// An HTTP request. Only redirects to the same host are followed.
package struct HTTPAction: Hashable, Sendable {
    /// The URL, with scheme `http` or `https`.
    package var url: String
    package var method: String
    /// `Name: value` lines without line breaks. Only headers that the protocol requires are added, so there is no
    /// `Content-Type` by default.
    package var headers: [String]
    package var body: [UInt8]

    package init(url: String, method: String = "GET", headers: [String] = [], body: [UInt8] = []) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
    }
}

// MARK: - Evaluation

extension HTTPStep {
    func forEachTemplate(_ body: (Template) -> Void) {
        body(url)
        for header in headers { body(header.value) }
        self.body.forEachTemplate(body)
    }

    /// The failure of the step if the status is not an expected one; else `nil`.
    func failure(for facts: ResultFacts) -> StepFailure? {
        let status = Int(truncatingIfNeeded: facts.status)
        guard !expectation.contains(where: { $0.admits(status) }) else { return nil }
        let wanted = expectation.map {
            switch $0 {
            case .exactly(let status): "\(status)"
            case .family(let family): "\(family)xx"
            }
        }
        return StepFailure("R823", "the server answered \(status), not \(wanted.joined(separator: " or "))", facts)
    }

    /// The result as shown in traces.
    func traceSuffix(for facts: ResultFacts) -> String { facts.status == 0 ? "" : ": status \(facts.status)" }
}

extension HTTPAction {
    var details: String {
        "\(method) \(url)" + (body.isEmpty ? "" : " \(String(decoding: body, as: UTF8.self))")
    }

    var aspects: [ActionAspect] {
        [
            ActionAspect(name: "method", value: method), ActionAspect(name: "url", value: url),
            ActionAspect(name: "body", value: String(decoding: body, as: UTF8.self)),
        ]
            + headers.map { header in
                let name = header.prefix { $0 != ":" }
                return ActionAspect(name: "header \(name)", value: String(header.dropFirst(name.count + 2)))
            }
    }

    /// The request as shown in traces, without its headers and body.
    var summary: String { "http \(method) \(Run.traceText(url))" }
}

extension StepValues {
    /// Adds `Content-Type: application/json` to a JSON body, unless the step sets a `Content-Type`.
    ///
    /// - Throws: R832 for a header with a line break or NUL.
    mutating func action(_ step: HTTPStep) throws(StepFailure) -> HTTPAction {
        var headers: [String] = []
        for header in step.headers {
            let line = "\(header.name): \(try text(header.value))"
            // Literals and secrets are not checked when they are inserted, so the whole line is checked.
            guard !line.utf8.contains(where: { $0 == 0x0D || $0 == 0x0A || $0 == 0 }) else {
                throw StepFailure("R832", "the header \(header.name) has a line break or a NUL")
            }
            headers.append(line)
        }
        if case .json = step.body, !step.headers.contains(where: { $0.name.lowercased() == "content-type" }) {
            headers.append("Content-Type: application/json")
        }
        return HTTPAction(
            url: try text(step.url), method: step.method, headers: headers, body: try octets(step.body))
    }
}

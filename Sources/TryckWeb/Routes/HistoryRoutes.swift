import ButtonModel
import CommandSupport
import HTTPTypes
import Hummingbird
import JSON
import Platform
import ReplayCommands
import WebService

/// The past: `GET /api/history` and `POST /api/rules/compare`.
func addHistoryRoutes(to api: RouterGroup<SiteContext>, _ site: Site) {
    let directory = site.setup.daemonStateDirectory

    api.get("history") { request, _ in
        let from = try time("from", in: request)
        let to = try time("to", in: request)
        let answer = try await site.work.run {
            Result { () throws(Failure) in
                var lines: [JSONValue] = []
                var gaps: [String] = []
                var isMore = false
                var length = 0
                try Past.forEach(in: directory, from: from, to: to) { occurrence in
                    switch occurrence {
                    case .gap(let reason): if gaps.count < maximumGaps, !gaps.contains(reason) { gaps.append(reason) }
                    case .line(let line):
                        isMore = lines.count >= maximumLines || length >= maximumLength
                        length += line.encoded().count
                        if !isMore { lines.append(line.withoutPasswords) }
                    }
                    return !isMore
                }
                let members: JSONValue = [
                    "lines": .array(lines), "gaps": JSONValue.array(gaps.map { .string($0) }).withoutPasswords,
                    "more": .bool(isMore),
                ]
                return members
            }
        }
        switch answer {
        case .success(let members): return Response(json: members)
        case .failure(let failure): throw WebFailure(failure)
        }
    }

    api.post("rules/compare") { request, context in
        let octets = try await site.octets(of: request, context)
        guard let body = try? JSONValue(parsing: octets), body.objectValue != nil else {
            throw WebFailure(.badRequest, #"the body looks like {"files":{"home.yaml":"…"},"since":"yesterday"}"#)
        }
        var beginning: UTCTime?
        if let since = body["since"], since != .null {
            beginning = since.stringValue.flatMap { TimeText.time($0) ?? HistoryTime.parse($0, now: Site.wallClock) }
            guard beginning != nil else {
                throw WebFailure(
                    .badRequest, "since is 2h, 3d, today, yesterday or a time such as 2026-11-21T02:30:00Z")
            }
        }
        let since = beginning
        let drafts = try await site.work.run {
            Result { () throws(RuleDesk.Failure) in try site.rules.texts(body) }
        }.draftValue
        let result = try await site.work.run {
            Result { () throws(Failure) in try Past.comparison(in: directory, with: drafts, since: since) }
        }
        switch result {
        case .success(let comparison): return Response(json: comparison.withoutPasswords)
        case .failure(let failure): throw WebFailure(failure, folder: site.rules.folder)
        }
    }
}

/// The most gaps of one answer. A damaged history can have one for each of its segments.
private let maximumGaps = 20
/// The most lines of one answer; a page asks again from the last one.
private let maximumLines = 10_000
/// The length in octets from which an answer gets no further line. A line about a message may have 64 KiB.
private let maximumLength = 8 << 20

private func time(_ name: String, in request: Request) throws(WebFailure) -> UTCTime? {
    guard let text = request.uri.queryParameters[Substring(name)], !text.isEmpty else { return nil }
    guard let time = TimeText.time(text) else {
        throw WebFailure(.badRequest, "\(name) is a time such as 2026-11-21T02:30:00Z")
    }
    return time
}

extension WebFailure {
    /// - Parameter folder: the folder of the rule files, which is removed from the names of files in the problems.
    fileprivate init(_ failure: Failure, folder: String = "") {
        guard failure.problems.isEmpty else {
            let problems = failure.problems.map { problem -> JSONValue in
                guard case .object(let members) = problem else { return problem }
                return .object(
                    members.map { member in
                        guard member.name == "file", let path = member.value.stringValue, path.hasPrefix(folder + "/")
                        else { return member }
                        return .init(member.name, .string(String(path.dropFirst(folder.utf8.count + 1))))
                    })
            }
            self.init(
                .unprocessableContent, "the rules have errors; correct them first",
                members: [.init("diagnostics", JSONValue.array(problems).withoutPasswords)])
            return
        }
        self.init(failure.status == .unavailable ? .notFound : .internalServerError, failure.sentence)
    }
}

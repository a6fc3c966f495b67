package import JSON

/// The reason why a line of a recording cannot be read. The description is a sentence without its full stop.
package enum RecordingFailure: Error, Hashable, Sendable, CustomStringConvertible {
    case notJSON(JSONError)
    case notARecording
    case newerVersion(Int64)
    /// The member is missing, or has a wrong type or value.
    case badMember(String)

    package var description: String {
        switch self {
        case .notJSON(let error): "not JSON: \(error)"
        case .notARecording: "this is not a recording; one is made with: tryckd --record FILE"
        case .newerVersion(let version):
            "the recording has format \(version) and this program reads format \(Recording.version): "
                + "replay it with a newer tryck"
        case .badMember(let name): "\"\(name)\" is missing or wrong"
        }
    }
}

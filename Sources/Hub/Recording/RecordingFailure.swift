package import JSON

/// Why a line is not part of a recording we can read; a sentence without its end.
package enum RecordingFailure: Error, Hashable, Sendable, CustomStringConvertible {
    case notJSON(JSONError)
    case notARecording
    case newerVersion(Int64)
    /// It is missing, or not what it has to be.
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

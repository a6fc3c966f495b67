import Diagnostics
package import JSON

extension [Diagnostic] {
    /// The diagnostics as JSON, in source order: all warnings, and as many errors of each file as a report for people shows.
    /// If errors are left out, the last element is their number: `{"code":null,"message":"and 11 more","more":11}`.
    package var problemList: [JSONValue] {
        var errors: [String: Int] = [:]
        var omitted = 0
        var list: [JSONValue] = []
        for diagnostic in self {
            if diagnostic.severity == .error {
                errors[diagnostic.file, default: 0] += 1
                guard errors[diagnostic.file, default: 0] <= DiagnosticReport.maximumErrorsPerFile else {
                    omitted += 1
                    continue
                }
            }
            list.append(diagnostic.json)
        }
        if omitted > 0 {
            list.append(["code": .null, "message": .string("and \(omitted) more"), "more": .integer(Int64(omitted))])
        }
        return list
    }
}

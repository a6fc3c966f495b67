/// Finds `tryck.yaml`.
package enum ConfigurationPath {
    /// The path of the configuration: `named`, or else `$TRYCK_CONFIG`, or else the first file that exists of `tryck.yaml`
    /// in the working directory and in `/etc/tryck`; `nil` if there is none.
    package static func find(_ named: String? = nil, environment: [String: String]) -> String? {
        if let named = named ?? environment["TRYCK_CONFIG"] { return named }
        return ["tryck.yaml", "/etc/tryck/tryck.yaml"].first { path in
            do throws(FileText.Failure) {
                _ = try FileText(reading: path)
                return true
            } catch {
                // A file that exists and cannot be read is reported by the caller, who reads it.
                return error != .notFound(path)
            }
        }
    }
}

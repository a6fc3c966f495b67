import Glibc

/// The broker mosquitto of this system, which `mqtt: {broker: embedded}` needs.
package enum InstalledMosquitto {
    /// `PATH` is not used, because that of a service may lack `/usr/sbin`, where distributions install mosquitto.
    private static let directories = ["/usr/sbin", "/usr/local/sbin", "/usr/bin", "/usr/local/bin"]

    /// The path of the program; `nil` if it is not installed.
    package static var path: String? {
        directories.map { $0 + "/mosquitto" }.first { access($0, X_OK) == 0 }
    }
}

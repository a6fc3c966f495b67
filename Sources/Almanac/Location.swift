package import ButtonModel
package import Expressions

/// A place on earth.
///
/// The interface; to be written.
package struct Location: Hashable, Sendable {
    /// Degrees, north positive, -90…90.
    package var latitude: Double
    /// Degrees, east positive, -180…180.
    package var longitude: Double

    package init(latitude: Double, longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }

    /// The sun over the local day that `time` is in, and how high it stands at that moment.
    package func sun(at time: UTCTime, in zone: TimeZone) -> SunFacts { SunFacts() }
}

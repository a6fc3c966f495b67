package import ButtonModel
package import Expressions

/// A geographic location.
package struct Location: Hashable, Sendable {
    /// In degrees, north positive, -90…90.
    package var latitude: Double
    /// In degrees, east positive, -180…180.
    package var longitude: Double

    package init(latitude: Double, longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }
}

extension Location {
    /// The elevation of the sun's centre at sunrise and sunset, when its upper edge appears: 34′ of refraction plus 16′
    /// of radius below the horizon, in degrees.
    static let horizon = -50.0 / 60
    static let civilTwilight = -6.0

    /// Dawn, sunrise, sunset and dusk of the local day that contains `time`, and the elevation of the sun at `time`.
    ///
    /// The four times are those around the solar noon of that day, in seconds of the local day, 0…86399; a sunset after
    /// midnight has a small number. The elevation is that of the sun's centre, with refraction. A sunrise or sunset
    /// that the day lacks, near the ends of a polar day, is replaced by solar midnight. On a polar day all four are
    /// solar midnight, in a polar night solar noon. Where civil twilight lasts all night, dawn is solar midnight and
    /// dusk is one second before.
    ///
    /// A call takes about 40 µs, so callers should calculate a moment only once.
    package func sun(at time: UTCTime, in zone: TimeZone) -> SunFacts {
        let observer = SolarPosition.Observer(self)
        let now = Double(time.milliseconds) / 1000
        let elevation = Trigonometry.arcsine(SolarPosition(at: now).sineOfElevation(at: now, observer))
        var facts = SunFacts()
        facts.isUp = elevation >= Location.horizon
        facts.elevation = elevation + SolarPosition.refraction(at: elevation)

        let noon = solarNoon(of: time, in: zone)
        let (midnight, nextMidnight) = (noon - 43_200, noon + 43_200)
        let morning = HalfDay(from: midnight, to: noon, at: observer)
        let evening = HalfDay(from: nextMidnight, to: noon, at: observer)
        let wall = { (moment: Double) in
            zone.localTime(at: UTCTime(milliseconds: Int64(exactly: moment.rounded() * 1000) ?? 0)).secondOfDay
        }
        let sunrise = morning.crossing(of: Location.horizon)
        let sunset = evening.crossing(of: Location.horizon)
        guard sunrise != nil || sunset != nil else {
            let neverRises = !morning.isAbove(Location.horizon, at: noon)
            let moment = wall(neverRises ? noon : midnight)
            facts.polar = neverRises ? .neverRises : .neverSets
            (facts.dawn, facts.sunrise, facts.sunset, facts.dusk) = (moment, moment, moment, moment)
            return facts
        }
        facts.sunrise = wall(sunrise ?? midnight)
        facts.sunset = wall(sunset ?? nextMidnight)
        let dawn = morning.crossing(of: Location.civilTwilight)
        let dusk = evening.crossing(of: Location.civilTwilight)
        facts.dawn = wall(dawn ?? midnight)
        // Dusk is one second before dawn, so that a window from dawn to dusk is all day; with equal times it would be
        // empty.
        facts.dusk = dawn == nil && dusk == nil ? wall(midnight - 1) : wall(dusk ?? nextMidnight)
        return facts
    }

    /// The moment of a sun event on a local date; `nil` if the day lacks it.
    func moment(of event: TimeOfDay.SunEvent, on date: CivilDate, in zone: TimeZone) -> UTCTime? {
        let local = date.daysSinceEpoch * 86_400 + 43_200
        let offset = zone.offset(at: UTCTime(milliseconds: local * 1000))
        let noon = solarNoon(of: UTCTime(milliseconds: (local - Int64(offset)) * 1000), in: zone)
        let observer = SolarPosition.Observer(self)
        let crossing: Double? =
            switch event {
            case .dawn: HalfDay(from: noon - 43_200, to: noon, at: observer).crossing(of: Location.civilTwilight)
            case .sunrise: HalfDay(from: noon - 43_200, to: noon, at: observer).crossing(of: Location.horizon)
            case .sunset: HalfDay(from: noon + 43_200, to: noon, at: observer).crossing(of: Location.horizon)
            case .dusk: HalfDay(from: noon + 43_200, to: noon, at: observer).crossing(of: Location.civilTwilight)
            }
        return crossing.flatMap { Int64(exactly: $0.rounded() * 1000) }.map { UTCTime(milliseconds: $0) }
    }

    /// The solar noon nearest to 12:00 local time, in seconds since 1970-01-01 UTC.
    private func solarNoon(of time: UTCTime, in zone: TimeZone) -> Double {
        let local = zone.localTime(at: time)
        var noon = Double(local.unix) - Double(local.secondOfDay) + 43_200
        for _ in 0..<2 { noon -= SolarPosition(at: noon).hourAngle(at: noon, longitude: longitude) * 240 }
        return noon
    }
}

/// The half day between a solar midnight and a solar noon, in which the elevation of the sun is monotonic: the
/// condition for bisection.
private struct HalfDay {
    private let midnight, noon: Double
    private let positions: (midnight: SolarPosition, noon: SolarPosition)
    private let observer: SolarPosition.Observer

    init(from midnight: Double, to noon: Double, at observer: SolarPosition.Observer) {
        self.midnight = midnight
        self.noon = noon
        self.observer = observer
        positions = (SolarPosition(at: midnight), SolarPosition(at: noon))
    }

    func isAbove(_ elevation: Double, at moment: Double) -> Bool {
        isAbove(sine: Trigonometry.sine(elevation), at: moment)
    }

    /// The moment when the sun's centre crosses an elevation; `nil` if it does not.
    func crossing(of elevation: Double) -> Double? {
        let sine = Trigonometry.sine(elevation)
        guard !isAbove(sine: sine, at: midnight), isAbove(sine: sine, at: noon) else { return nil }
        var (below, above) = (midnight, noon)
        // 18 bisections of 12 hours leave a sixth of a second.
        for _ in 0..<18 {
            let middle = (below + above) / 2
            if isAbove(sine: sine, at: middle) { above = middle } else { below = middle }
        }
        return above
    }

    private func isAbove(sine: Double, at moment: Double) -> Bool {
        let fraction = (moment - midnight) / (noon - midnight)
        let position = SolarPosition(between: positions.midnight, and: positions.noon, at: fraction)
        return position.sineOfElevation(at: moment, observer) >= sine
    }
}

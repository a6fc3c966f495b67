package import ButtonModel
package import Expressions

/// A place on earth.
package struct Location: Hashable, Sendable {
    /// Degrees, north positive, -90…90.
    package var latitude: Double
    /// Degrees, east positive, -180…180.
    package var longitude: Double

    package init(latitude: Double, longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }
}

extension Location {
    /// Where the sun's middle is when its upper edge appears: 34′ of refraction and 16′ of radius.
    static let horizon = -50.0 / 60
    static let civilTwilight = -6.0

    /// The sun over the local day that `time` is in, and how high it stands at that moment.
    ///
    /// Dawn to dusk are those around the day's solar noon, as the clock on the wall shows them, 0…86 399: a sunset after
    /// midnight is early in the day. The elevation is that of the sun's middle, lifted by the air. A rise or a set that the day
    /// lacks, near the ends of a polar day, is solar midnight; where twilight lasts all night, dawn is solar midnight and
    /// dusk the second before.
    ///
    /// It takes some forty microseconds: ask once for one moment.
    package func sun(at time: UTCTime, in zone: TimeZone) -> SunFacts {
        let place = SolarPosition.Place(self)
        let now = Double(time.milliseconds) / 1000
        let elevation = Trigonometry.arcsine(SolarPosition(at: now).sineOfElevation(at: now, place))
        var facts = SunFacts()
        facts.isUp = elevation >= Location.horizon
        facts.elevation = elevation + SolarPosition.refraction(at: elevation)

        let noon = solarNoon(of: time, in: zone)
        let (midnight, nextMidnight) = (noon - 43_200, noon + 43_200)
        let morning = HalfDay(from: midnight, to: noon, at: place)
        let evening = HalfDay(from: nextMidnight, to: noon, at: place)
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
        // Not at the same second: from dawn to dusk is then all day, and from dusk to dawn never.
        facts.dusk = dawn == nil && dusk == nil ? wall(midnight - 1) : wall(dusk ?? nextMidnight)
        return facts
    }

    /// The one nearest to twelve o'clock, in seconds since 1970.
    private func solarNoon(of time: UTCTime, in zone: TimeZone) -> Double {
        let local = zone.localTime(at: time)
        var noon = Double(local.unix) - Double(local.secondOfDay) + 43_200
        for _ in 0..<2 { noon -= SolarPosition(at: noon).hourAngle(at: noon, longitude: longitude) * 240 }
        return noon
    }
}

/// From solar midnight to solar noon or back: the sun only climbs, or only sinks.
private struct HalfDay {
    private let midnight, noon: Double
    private let positions: (midnight: SolarPosition, noon: SolarPosition)
    private let place: SolarPosition.Place

    init(from midnight: Double, to noon: Double, at place: SolarPosition.Place) {
        self.midnight = midnight
        self.noon = noon
        self.place = place
        positions = (SolarPosition(at: midnight), SolarPosition(at: noon))
    }

    func isAbove(_ elevation: Double, at moment: Double) -> Bool {
        isAbove(sine: Trigonometry.sine(elevation), at: moment)
    }

    /// When the sun's middle passes an elevation, if it does.
    func crossing(of elevation: Double) -> Double? {
        let sine = Trigonometry.sine(elevation)
        guard !isAbove(sine: sine, at: midnight), isAbove(sine: sine, at: noon) else { return nil }
        var (below, above) = (midnight, noon)
        // Half a day becomes a sixth of a second.
        for _ in 0..<18 {
            let middle = (below + above) / 2
            if isAbove(sine: sine, at: middle) { above = middle } else { below = middle }
        }
        return above
    }

    private func isAbove(sine: Double, at moment: Double) -> Bool {
        let fraction = (moment - midnight) / (noon - midnight)
        let position = SolarPosition(between: positions.midnight, and: positions.noon, at: fraction)
        return position.sineOfElevation(at: moment, place) >= sine
    }
}

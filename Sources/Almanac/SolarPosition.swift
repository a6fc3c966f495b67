/// The position of the sun, accurate to 0.01° in the years 1900 to 2100.
///
/// - Source: Meeus, Astronomical Algorithms, chapters 25 and 28, in the form of the NOAA solar calculator.
struct SolarPosition: Hashable, Sendable {
    /// The sine of the sun's declination, its angle north of the celestial equator.
    let sineOfDeclination: Double
    /// The equation of time, in minutes: apparent solar time minus mean solar time.
    let equationOfTime: Double

    /// Calculates the position at a moment.
    ///
    /// - Parameter moment: seconds since 1970-01-01T00:00:00Z.
    init(at moment: Double) {
        // Julian centuries since J2000.0, 2000-01-01 12:00.
        let century = (moment - 946_728_000) / (36_525 * 86_400)
        let meanLongitude = 280.46646 + century * (36_000.76983 + century * 0.0003032)
        let meanAnomaly = 357.52911 + century * (35_999.05029 - century * 0.0001537)
        let eccentricity = 0.016708634 - century * (0.000042037 + century * 0.0000001267)
        let center =
            Trigonometry.sine(meanAnomaly) * (1.914602 - century * (0.004817 + century * 0.000014))
            + Trigonometry.sine(2 * meanAnomaly) * (0.019993 - century * 0.000101)
            + Trigonometry.sine(3 * meanAnomaly) * 0.000289
        let node = 125.04 - century * 1934.136
        let longitude = meanLongitude + center - 0.00569 - 0.00478 * Trigonometry.sine(node)
        let arcseconds = 21.448 - century * (46.815 + century * (0.00059 - century * 0.001813))
        let obliquity = 23 + (26 + arcseconds / 60) / 60 + 0.00256 * Trigonometry.cosine(node)
        sineOfDeclination = Trigonometry.sine(obliquity) * Trigonometry.sine(longitude)

        let tangent = Trigonometry.tangent(obliquity / 2)
        let square = tangent * tangent
        let sineOfAnomaly = Trigonometry.sine(meanAnomaly)
        let radians =
            square * Trigonometry.sine(2 * meanLongitude)
            - 2 * eccentricity * sineOfAnomaly
            + 4 * eccentricity * square * sineOfAnomaly * Trigonometry.cosine(2 * meanLongitude)
            - 0.5 * square * square * Trigonometry.sine(4 * meanLongitude)
            - 1.25 * eccentricity * eccentricity * Trigonometry.sine(2 * meanAnomaly)
        equationOfTime = 4 * radians * 180 / .pi
    }

    /// Interpolates between two positions that are half a day apart; the error is below 0.001°.
    init(between first: SolarPosition, and second: SolarPosition, at fraction: Double) {
        sineOfDeclination =
            first.sineOfDeclination + (second.sineOfDeclination - first.sineOfDeclination) * fraction
        equationOfTime = first.equationOfTime + (second.equationOfTime - first.equationOfTime) * fraction
    }

    /// The hour angle in degrees, −180…180: 0 at solar noon, positive afterwards.
    func hourAngle(at moment: Double, longitude: Double) -> Double {
        let minutes = moment.remainder(dividingBy: 86_400) / 60 + equationOfTime
        return (minutes / 4 + longitude - 180).remainder(dividingBy: 360)
    }

    /// The sine of the elevation of the sun's centre, without refraction.
    func sineOfElevation(at moment: Double, _ observer: Observer) -> Double {
        let cosineOfDeclination = (1 - sineOfDeclination * sineOfDeclination).squareRoot()
        let cosineOfHourAngle = Trigonometry.cosine(hourAngle(at: moment, longitude: observer.longitude))
        return observer.sineOfLatitude * sineOfDeclination
            + observer.cosineOfLatitude * cosineOfDeclination * cosineOfHourAngle
    }

    struct Observer {
        let longitude, sineOfLatitude, cosineOfLatitude: Double

        init(_ location: Location) {
            longitude = location.longitude
            sineOfLatitude = Trigonometry.sine(location.latitude)
            cosineOfLatitude = Trigonometry.cosine(location.latitude)
        }
    }

    /// Atmospheric refraction in degrees for the true elevation given in degrees: how much higher the sun appears.
    static func refraction(at elevation: Double) -> Double {
        guard elevation <= 85 else { return 0 }
        let tangent = Trigonometry.tangent(elevation)
        let arcseconds =
            if elevation > 5 {
                58.1 / tangent - 0.07 / (tangent * tangent * tangent)
                    + 0.000086 / (tangent * tangent * tangent * tangent * tangent)
            } else if elevation > -0.575 {
                1735 + elevation * (-518.2 + elevation * (103.4 + elevation * (-12.79 + elevation * 0.711)))
            } else {
                -20.774 / tangent
            }
        return arcseconds / 3600
    }
}

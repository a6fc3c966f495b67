// Buttons as they look, drawn in SVG. The colours are in page.css, so that they follow the colour scheme.

import {svg} from "./dom.js";

/** The number of lights of a Twist. */
const lightCount = 12;

/** The position of a dial in percent for which all lights are lit. */
const fullPosition = 100;

/**
 * Which lights of a Twist are lit at a position of 0 to 100.
 *
 * @param {number} position
 * @param {string} mode the button's `led_mode`: `fill` lights all up to the position, `none` no light, others the one at it
 * @returns {boolean[]} twelve, clockwise from the lowest
 */
export function litLights(position, mode) {
  const lit = Math.round(position / fullPosition * lightCount);
  return Array.from({length: lightCount}, (_, light) => {
    if (mode === "none") return false;
    return mode === "fill" ? light < lit : light === Math.max(0, lit - 1);
  });
}

/** The position that a Twist shows: that of the dial it was turned on last, else of its first. */
export function shownPosition(button, mark) {
  const dial = mark?.line.slot ? `slot_${mark.line.slot}` : mark?.line.slot === 0 ? "free" : "slot_1";
  return button.positions?.[dial] ?? 0;
}

/** The parts of a model that can be pressed, with what stands before `click`, `down` and `up` for each. */
export const partsOf = (model) =>
  model === "duo" ? [{part: "big", prefix: "", title: ""}, {part: "small", prefix: "small_", title: ", small button"}]
    : model === "twist" ? [{part: "push", prefix: "", title: ""}] : [{part: "", prefix: "", title: ""}];

/** The outline of a model on a field of 120 by 120: what does not move. */
export function body(model) {
  switch (model) {
  case "duo":
    return svg("g", {}, svg("rect", {class: "shade", x: 27, y: 6, width: 66, height: 112, rx: 33}),
      svg("rect", {class: "body", x: 27, y: 3, width: 66, height: 112, rx: 33}));
  case "twist":
    return svg("g", {}, svg("circle", {class: "shade", cx: 60, cy: 63, r: 55}),
      svg("circle", {class: "body", cx: 60, cy: 60, r: 55}));
  default:
    return svg("g", {}, svg("circle", {class: "shade", cx: 60, cy: 63, r: 50}),
      svg("circle", {class: "rim", cx: 60, cy: 60, r: 50}));
  }
}

/** A part that is pressed. Its class becomes `down` while it is. */
export function cap(model, part) {
  const [x, y, radius] = model === "duo" ? part === "small" ? [60, 31, 17] : [60, 79, 27]
    : model === "twist" ? [60, 60, 34] : [60, 60, 46];
  return svg("g", {class: "cap"}, svg("circle", {class: "glow", cx: x, cy: y, r: radius + 3}),
    svg("circle", {class: "face", cx: x, cy: y, r: radius}),
    svg("circle", {class: "dish", cx: x, cy: y, r: radius * 0.8}));
}

/** The twelve lights, clockwise from the one at seven o'clock. */
export function lights() {
  return Array.from({length: lightCount}, (_, light) => {
    const angle = (light + 0.5) / lightCount * 2 * Math.PI + Math.PI / 2;
    return svg("circle", {
      class: "light", cx: (60 + 44.5 * Math.cos(angle)).toFixed(1), cy: (60 + 44.5 * Math.sin(angle)).toFixed(1), r: 3.4,
    });
  });
}

/** A drawing of a whole button, for places where nothing moves. */
export const picture = (model) => svg(
  "svg", {class: `drawing ${model}`, viewBox: "0 0 120 120", "aria-hidden": "true"}, body(model),
  ...(model === "twist" ? lights() : []), ...partsOf(model).map(({part}) => cap(model, part)));

/** A battery with its charge, 0 to 100. */
export const battery = (percentage, isLow) => svg(
  "svg", {class: `battery ${isLow ? "low" : ""}`, viewBox: "0 0 26 14", "aria-hidden": "true"},
  svg("rect", {class: "case", x: 1, y: 1, width: 21, height: 12, rx: 3}),
  svg("rect", {class: "pole", x: 23.2, y: 4.5, width: 2, height: 5, rx: 1}),
  svg("rect", {class: "charge", x: 3, y: 3, width: Math.max(1.5, 17 * percentage / 100).toFixed(1), height: 8, rx: 1.6}));

/** The millivolts at the bottom and at the top of a battery's line, and those below which a battery is low. */
const [emptyMillivolts, fullMillivolts, lowMillivolts] = [2000, 3200, 2650];

/** The length of a battery's line: a place for each week of two years. */
const trendWeeks = 104;

/**
 * The points of a battery's line on a field of 104 by 28, one for each measured week. The last week is at the right.
 *
 * @param {?number[]} millivolts one place for each week, null where nothing was measured
 */
export function trendPoints(millivolts) {
  const height = (value) => 26 - 24 * Math.min(1, Math.max(0, (value - emptyMillivolts) / (fullMillivolts - emptyMillivolts)));
  return millivolts.map((value, week) => [trendWeeks - millivolts.length + week, value])
    .filter(([, value]) => value !== null).map(([x, value]) => [x + 0.5, Number(height(value).toFixed(1))]);
}

/** A battery's voltage over the last two years, with a line at the voltage below which it is low. */
export function trend(millivolts) {
  const points = trendPoints(millivolts);
  const [x, y] = points.at(-1);
  const [, low] = trendPoints([lowMillivolts])[0];
  return svg(
    "svg", {class: "trend", viewBox: "0 0 108 28", "aria-hidden": "true"},
    svg("line", {class: "low", x1: 0, x2: 108, y1: low, y2: low}),
    svg("polyline", {points: points.map((point) => point.join(",")).join(" ")}), svg("circle", {cx: x, cy: y, r: 2.2}));
}

/** The number of bars, 0 to 4, for a signal in dBm. */
export const signalBars = (rssi) => [-90, -80, -70, -60].filter((least) => rssi >= least).length;

/** Four bars for a signal in dBm. */
export const signal = (rssi) => svg(
  "svg", {class: "signal", viewBox: "0 0 20 14", "aria-hidden": "true"},
  ...[0, 1, 2, 3].map((bar) => svg("rect", {
    class: bar < signalBars(rssi) ? "on" : "off", x: bar * 5, y: 10 - bar * 3, width: 3.4, height: 4 + bar * 3, rx: 1,
  })));

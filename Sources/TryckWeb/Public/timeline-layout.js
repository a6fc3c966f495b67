// Where things are on a timeline: lanes, and what a point shows. Pure functions; timeline.js draws.

/** The height of a lane in CSS pixels. */
export const laneHeight = 36;
/** The height of the axis above the lanes. */
export const axisHeight = 26;

/**
 * @typedef {object} View what part of time is shown
 * @property {number} from in milliseconds since 1970, by the daemon's clock
 * @property {number} to
 * @property {number} width of the tracks in CSS pixels
 *
 * @typedef {object} Lane
 * @property {"button"|"rule"} kind
 * @property {string} key the button's id, or the rule's
 * @property {string} label
 */

/** The horizontal position of a time. */
export const x = (view, time) => (time - view.from) / (view.to - view.from) * view.width;

const isWithin = (view, from, to) => from <= view.to && to >= view.from;

/**
 * What is to be seen.
 *
 * @param {import("./state.js").State} state
 * @param {View} view
 */
export function visible(state, view) {
  const now = view.now ?? view.to;
  return {
    presses: state.presses.filter((press) => isWithin(view, press.from, press.to ?? now)),
    marks: state.marks.filter((mark) => isWithin(view, mark.at, mark.arrived ?? mark.at)),
    runs: state.runs.filter((run) => isWithin(view, run.from, run.to ?? now)),
  };
}

/** The number of buttons up to which each has a lane, also when it was not pressed. */
const fewButtons = 8;

/**
 * The lanes: buttons in their order, then the rules that ran, in theirs. With many buttons only those that are shown to
 * do something have one.
 *
 * @returns {Lane[]}
 */
export function lanes(state, shown) {
  const pressed = new Set([...shown.presses, ...shown.marks].map((entry) => entry.button));
  const ran = new Set(shown.runs.map((run) => run.rule));
  const known = new Set(state.buttons.map((button) => button.id));
  const gone = [...pressed].filter((id) => !known.has(id)).map((id) => ({id, name: state.latest[id]?.name ?? id}));
  const isAll = state.buttons.length <= fewButtons;
  const buttons = [...state.buttons, ...gone].filter((button) => isAll || pressed.has(button.id));
  const rules = [...new Set([...state.rules.map((rule) => rule.id), ...ran])].filter((rule) => ran.has(rule));
  return [
    ...buttons.map((button) => ({kind: "button", key: button.id, label: button.name})),
    ...rules.map((rule) => ({kind: "rule", key: rule, label: rule})),
  ];
}

const steps = [
  100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 900_000, 1_800_000,
  3_600_000, 7_200_000, 10_800_000, 21_600_000, 43_200_000, 86_400_000, 172_800_000,
  345_600_000,
];

/** The times of the lines of the axis, at least that many pixels apart. */
export function ticks(view, least = 90) {
  const perPixel = (view.to - view.from) / view.width;
  const step = steps.find((candidate) => candidate / perPixel >= least) ?? steps.at(-1);
  const zone = new Date(view.from).getTimezoneOffset() * 60_000;
  const first = Math.ceil((view.from - zone) / step) * step + zone;
  return Array.from({length: Math.max(0, Math.floor((view.to - first) / step) + 1)}, (_, tick) => first + tick * step);
}

/**
 * The mark, run or press at a point; marks come first, because they lie on bars.
 *
 * @param {number} left in pixels from the beginning of the tracks
 * @param {number} top in pixels below the axis
 * @param {number} reach how many pixels beside it still count
 * @returns {?{kind: "mark"|"run"|"press", entry: object}}
 */
export function hit(view, lanes, shown, left, top, reach = 12) {
  const lane = lanes[Math.floor(top / laneHeight)];
  if (!lane) return null;
  const nearest = (entries, distance) => entries.map((entry) => ({entry, distance: distance(entry)}))
    .filter((found) => found.distance <= reach).sort((a, b) => a.distance - b.distance)[0]?.entry;
  const beside = (entry) => {
    const [from, to] = [x(view, entry.from), x(view, entry.to ?? view.to)];
    return left < from ? from - left : left > to ? left - to : 0;
  };
  if (lane.kind === "rule") {
    const run = nearest(shown.runs.filter((run) => run.rule === lane.key), beside);
    return run ? {kind: "run", entry: run} : null;
  }
  const mark = nearest(
    shown.marks.filter((mark) => mark.button === lane.key), (mark) => Math.min(
      Math.abs(x(view, mark.at) - left), mark.arrived === null ? Infinity : Math.abs(x(view, mark.arrived) - left)));
  if (mark) return {kind: "mark", entry: mark};
  const press = nearest(shown.presses.filter((press) => press.button === lane.key), beside);
  return press ? {kind: "press", entry: press} : null;
}

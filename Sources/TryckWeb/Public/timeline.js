// Draws a timeline: a lane for each button and for each rule that ran. A canvas, because hundreds of presses a minute are
// too many elements to move; the list of the latest happenings beside it says the same to those who cannot see it.

import {h} from "./dom.js";
import {axisHeight, hit, laneHeight, lanes, ticks, visible, x} from "./timeline-layout.js";
import {daemonTime} from "./state.js";
import {eventWords, outcomeTone, shortened, stepWords, tickWords} from "./words.js";

/** How often a live timeline moves at most, in milliseconds. It moves by one pixel, which may take longer. */
const shortestPeriod = 40;
const longestPeriod = 1000;
/** The share of the shown time that is left free behind the present. */
const margin = 0.06;
const shortestSpan = 2000;
const longestSpan = 7 * 86_400_000;

/** The least room for the start of a text, in pixels. In less, two letters and an ellipsis say nothing. */
const leastRoom = 72;

/** The start of a text that fits into that many pixels. */
function fitting(pen, text, room) {
  const isFit = (part) => pen.measureText(part).width <= room;
  if (isFit(text)) return text;
  let length = Math.min(text.length, Math.ceil(text.length * room / pen.measureText(text).width) + 2);
  while (length > 1 && !isFit(shortened(text, length))) length -= 1;
  return shortened(text, length);
}

/**
 * A timeline.
 *
 * @param {object} options
 * @param {number} options.span the time that is shown, in milliseconds
 * @param {function({kind: string, entry: object})} options.onselect
 * @param {function()} [options.onmove] called when another part of time is shown
 */
export function createTimeline({span, onselect, onmove = () => {}}) {
  const canvas = h("canvas", {"aria-hidden": "true"});
  const element = h("div", {class: "timeline"}, canvas);
  const motion = matchMedia("(prefers-reduced-motion: reduce)");
  let state = null;
  let end = null;  // null: the present
  let selected = null;
  let last = {view: null, lanes: [], shown: null};
  let colours = null;
  let drawnAt = 0;
  let isDirty = true;
  /** The width of the names of lanes; 0 where they are above the lanes, because there is little room. */
  let columns = 0;

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { colours = null; isDirty = true; });
  new ResizeObserver(() => { isDirty = true; }).observe(element);

  /** The line on which the bars of a lane are. */
  const middleOf = (top) => top + (columns > 0 ? laneHeight / 2 : laneHeight - 11);

  const present = () => daemonTime(state, Date.now());
  const viewAt = (now) => {
    const to = end ?? now + span * margin;
    return {from: to - span, to, now, width: Math.max(1, element.clientWidth - columns)};
  };

  function readColours() {
    const names = ["ink", "muted", "line", "press", "press-soft", "accent", "good", "bad", "doubtful", "surface"];
    // The values are functions of the colour scheme in CSS; the canvas needs their results.
    const probe = element.appendChild(h("span", {hidden: true}));
    colours = {};
    for (const name of names) {
      probe.style.color = `var(--${name})`;
      colours[name] = getComputedStyle(probe).color;
    }
    probe.remove();
    colours.font = `12px ${getComputedStyle(element).fontFamily}`;
  }

  /** Draws if something has changed, or time has gone on. */
  function frame(time) {
    const isLive = end === null && state?.since !== null;
    const pixel = span / Math.max(1, element.clientWidth - columns);
    const period = motion.matches ? longestPeriod : Math.min(longestPeriod, Math.max(shortestPeriod, pixel));
    if (state === null || (!isDirty && (!isLive || time - drawnAt < period))) return;
    drawnAt = time;
    isDirty = false;
    paint();
  }

  function paint() {
    if (!colours) readColours();
    columns = element.clientWidth < 560 ? 0 : 132;
    const view = viewAt(present());
    const shown = visible(state, view);
    const rows = lanes(state, shown);
    last = {view, lanes: rows, shown};
    const height = axisHeight + Math.max(1, rows.length) * laneHeight + 4;
    const scale = window.devicePixelRatio || 1;
    const width = element.clientWidth;
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
    }
    const pen = canvas.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.font = colours.font;
    pen.textBaseline = "middle";
    paintAxis(pen, view, height);
    const places = new Map(rows.map((lane, row) => [`${lane.kind} ${lane.key}`, axisHeight + row * laneHeight]));
    rows.forEach((lane, row) => paintLane(pen, lane, axisHeight + row * laneHeight, width));
    pen.save();
    pen.beginPath();
    pen.rect(columns, 0, width - columns, height);
    pen.clip();
    pen.translate(columns, 0);
    for (const press of shown.presses) paintPress(pen, view, press, places.get(`button ${press.button}`));
    for (const run of shown.runs) paintRun(pen, view, run, places.get(`rule ${run.rule}`), shown.runs);
    paintMarks(pen, view, shown.marks, places);
    pen.restore();
  }

  function paintAxis(pen, view, height) {
    pen.strokeStyle = colours.line;
    pen.fillStyle = colours.muted;
    pen.lineWidth = 1;
    const times = ticks(view);
    const step = times.length > 1 ? times[1] - times[0] : view.to - view.from;
    for (const tick of times) {
      const left = Math.round(columns + x(view, tick)) + 0.5;
      pen.beginPath();
      pen.moveTo(left, axisHeight - 4);
      pen.lineTo(left, height);
      pen.stroke();
      const label = tickWords(tick, step);
      const labelWidth = pen.measureText(label).width;
      const start = Math.min(left - labelWidth / 2, columns + view.width - labelWidth);
      if (start >= columns) pen.fillText(label, start, axisHeight / 2 - 2);
    }
    const now = columns + x(view, view.now);
    if (now <= columns + view.width) {
      pen.globalAlpha = 0.4;
      pen.strokeStyle = colours.accent;
      pen.beginPath();
      pen.moveTo(now, axisHeight - 4);
      pen.lineTo(now, height);
      pen.stroke();
      pen.globalAlpha = 1;
    }
  }

  function paintLane(pen, lane, top, width) {
    pen.strokeStyle = colours.line;
    pen.beginPath();
    pen.moveTo(0, top + 0.5);
    pen.lineTo(width, top + 0.5);
    pen.stroke();
    pen.fillStyle = lane.kind === "button" ? colours.ink : colours.muted;
    if (columns > 0) pen.fillText(fitting(pen, lane.label, columns - 8), 2, top + laneHeight / 2 + 1);
    else pen.fillText(fitting(pen, lane.label, width), 0, top + 9);
  }

  function paintPress(pen, view, press, top) {
    if (top === undefined) return;
    const from = x(view, press.from);
    const to = Math.max(from + 4, x(view, press.to ?? view.now));
    pen.beginPath();
    pen.roundRect(from, middleOf(top) - 4.5, to - from, 9, 4.5);
    if (press.arrived === null) {
      pen.fillStyle = press.to === null ? colours.press : colours["press-soft"];
      pen.fill();
    } else {
      pen.setLineDash([3, 2]);
      pen.strokeStyle = colours.press;
      pen.stroke();
      pen.setLineDash([]);
    }
  }

  function paintMarks(pen, view, marks, places) {
    const free = new Map();  // For each lane: from where on a label has room.
    for (const mark of marks) {
      const top = places.get(`button ${mark.button}`);
      if (top === undefined) continue;
      const middle = middleOf(top);
      const left = x(view, mark.at);
      if (mark.arrived !== null) paintArrow(pen, left, x(view, mark.arrived), middle);
      pen.beginPath();
      pen.arc(left, middle, mark.n === selected ? 7 : 5, 0, 2 * Math.PI);
      pen.fillStyle = mark.arrived === null ? colours.press : colours.surface;
      pen.fill();
      pen.lineWidth = 2;
      pen.strokeStyle = mark.n === selected ? colours.ink : mark.arrived === null ? colours.surface : colours.press;
      pen.stroke();
      pen.lineWidth = 1;
    }
    // Labels from the right, so that those of the latest win.
    pen.fillStyle = colours.ink;
    for (const mark of marks.toReversed()) {
      const top = places.get(`button ${mark.button}`);
      if (top === undefined) continue;
      const left = x(view, mark.at);
      const label = eventWords(mark.line);
      const width = pen.measureText(label).width;
      const limit = free.get(top) ?? view.width;
      free.set(top, left - 10);
      // The label of a late press is behind its arrow, or above it.
      const head = mark.arrived === null ? left : Math.max(left, x(view, mark.arrived));
      if (head + 10 + width <= limit) pen.fillText(label, head + 10, middleOf(top) + 1);
      else if (mark.arrived !== null && columns > 0) pen.fillText(label, Math.max(4, left - 4), middleOf(top) - 10);
    }
  }

  /** From when it happened to when the button told it. */
  function paintArrow(pen, from, to, middle) {
    pen.strokeStyle = colours.press;
    pen.setLineDash([2, 3]);
    pen.beginPath();
    pen.moveTo(from + 6, middle);
    pen.lineTo(to - 5, middle);
    pen.stroke();
    pen.setLineDash([]);
    pen.beginPath();
    pen.moveTo(to - 6, middle - 4);
    pen.lineTo(to, middle);
    pen.lineTo(to - 6, middle + 4);
    pen.stroke();
  }

  function paintRun(pen, view, run, top, runs) {
    if (top === undefined) return;
    const from = x(view, run.from);
    const to = Math.max(from + 6, x(view, run.to ?? view.now));
    const middle = middleOf(top);
    const tone = colours[outcomeTone(run.outcome)];
    pen.fillStyle = tone;
    pen.beginPath();
    if (run.run === null) {
      // A cross: a gate has stopped it.
      pen.strokeStyle = tone;
      pen.lineWidth = 2;
      pen.moveTo(from - 4, middle - 4);
      pen.lineTo(from + 4, middle + 4);
      pen.moveTo(from + 4, middle - 4);
      pen.lineTo(from - 4, middle + 4);
      pen.stroke();
      pen.lineWidth = 1;
    } else {
      pen.roundRect(from, middle - 3, to - from, 7, 3.5);
      pen.fill();
    }
    pen.strokeStyle = colours.ink;
    for (const step of run.steps) {
      const left = x(view, step.at);
      pen.beginPath();
      pen.moveTo(left + 0.5, middle - 7);
      pen.lineTo(left + 0.5, middle + 8);
      pen.stroke();
    }
    const next = runs.find((other) => other.rule === run.rule && other.n > run.n);
    const room = (next ? x(view, next.from) - 8 : view.width) - to - 8;
    const step = run.steps.at(-1);
    if (!step) return;
    const words = stepWords(step);
    const text = words.output || words.text;
    if (room < leastRoom && pen.measureText(text).width > room) return;
    pen.fillStyle = colours.muted;
    pen.fillText(fitting(pen, text, room), to + 8, middle + 1);
  }

  // MARK: Moving

  function move(newEnd, newSpan) {
    span = Math.min(longestSpan, Math.max(shortestSpan, newSpan));
    end = newEnd !== null && newEnd >= present() + span * margin ? null : newEnd;
    isDirty = true;
    onmove();
  }

  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    drag = {id: event.pointerId, start: event.clientX, end: last.view?.to ?? present(), isMoved: false};
  });
  canvas.addEventListener("pointermove", (event) => {
    if (drag?.id !== event.pointerId || !last.view) return;
    const moved = event.clientX - drag.start;
    if (!drag.isMoved && Math.abs(moved) < 6) return;
    drag.isMoved = true;
    canvas.setPointerCapture(event.pointerId);
    move(drag.end - moved * span / last.view.width, span);
  });
  canvas.addEventListener("pointerup", (event) => {
    if (drag && !drag.isMoved && last.view) {
      const found = hit(
        last.view, last.lanes, last.shown, event.offsetX - columns, event.offsetY - axisHeight);
      if (found) onselect(found);
    }
    drag = null;
  });
  canvas.addEventListener("pointercancel", () => { drag = null; });

  return {
    element,
    frame,
    /** Shows another state. */
    draw(next) { state = next; isDirty = true; },
    select(number) { selected = number; isDirty = true; },
    get isLive() { return end === null; },
    /** The first and the last time that are shown. */
    get range() { const view = viewAt(present()); return {from: view.from, to: view.to}; },
    hold() { if (end === null) move(present(), span); },
    live() { move(null, span); },
    zoom(factor) {
      const middle = end === null ? null : end - span / 2;
      move(middle === null ? null : middle + span * factor / 2, span * factor);
    },
    /** Moves by a share of what is shown; negative is back. */
    shift(share) { move((end ?? present() + span * margin) + share * span, span); },
  };
}

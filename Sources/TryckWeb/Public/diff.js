// Compares two texts line by line.

/** The most pairs of lines that are compared; of longer texts the middle counts as replaced. */
const mostPairs = 4_000_000;

/**
 * The lines of both texts in order, each with `=` (in both), `-` (only before) or `+` (only after).
 *
 * @param {string} before
 * @param {string} after
 * @returns {{sign: "="|"-"|"+", text: string}[]}
 */
export function diffLines(before, after) {
  const [a, b] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  const same = (lines) => lines.map((text) => ({sign: "=", text}));
  return [
    ...same(a.slice(0, start)), ...middle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...same(a.slice(a.length - end)),
  ];
}

/** Finds the longest common sequence of lines. */
function middle(a, b) {
  const removed = (text) => ({sign: "-", text});
  const added = (text) => ({sign: "+", text});
  if (a.length * b.length > mostPairs) return [...a.map(removed), ...b.map(added)];
  const width = b.length + 1;
  // The length of the longest common sequence of the rest of both texts, from each pair of lines on.
  const common = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      common[i * width + j] = a[i] === b[j] ? common[(i + 1) * width + j + 1] + 1
        : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  const lines = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({sign: "=", text: a[i]});
      i += 1;
      j += 1;
    } else if (j >= b.length || (i < a.length && common[(i + 1) * width + j] >= common[i * width + j + 1])) {
      lines.push(removed(a[i]));
      i += 1;
    } else {
      lines.push(added(b[j]));
      j += 1;
    }
  }
  return lines;
}

/** The changed lines with some unchanged ones around them; `null` stands for lines that are left out. */
export function hunks(lines, around = 2) {
  const isShown = lines.map((_, index) =>
    lines.slice(Math.max(0, index - around), index + around + 1).some((line) => line.sign !== "="));
  const shown = [];
  lines.forEach((line, index) => {
    if (isShown[index]) shown.push(line);
    else if (shown.length > 0 && shown.at(-1) !== null) shown.push(null);
  });
  if (shown.at(-1) === null) shown.pop();
  return shown;
}

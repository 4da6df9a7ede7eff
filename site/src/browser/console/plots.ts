// Draws a plot above each marked table, from the table's numbers, and collapses the table.

import uPlot from 'uplot';
import { element } from '../element.ts';
import { isolatedPoints } from './isolated-points.ts';

const MINUTE_S = 60;
const DAY_S = 86_400;
/** Steps between times on the axis: whole minutes or days, as printTimes() formats them. */
const TIME_STEPS_S = [
  ...[1, 2, 5, 10, 15, 30, 60, 120, 360, 720].map((minutes) => minutes * MINUTE_S),
  ...[1, 2, 7, 14, 28, 84, 168, 336].map((days) => days * DAY_S),
];
/** Steps between numbers on the axis of a plot that has only whole numbers. */
const WHOLE_STEPS = Array.from({ length: 13 }, (_, power) => [1, 2, 5].map((n) => n * 10 ** power)).flat();
/** Width of a time on the axis, with padding: a date without its year, or a month. */
const NAME_WIDTH = 64;
/** Shortest time axis, so that a few data points do not fill the whole plot. */
const SPAN_MIN_S = { minute: 10 * MINUTE_S, day: 6 * DAY_S, month: 365 * DAY_S };
/** Half the width of a bar, with padding. */
const BAR_MARGIN_S = { minute: 0.6 * MINUTE_S, day: 0.6 * DAY_S, month: 18 * DAY_S };

type PlotData = ReturnType<typeof readTable>;

/** Each plot, and its table's text when it was drawn. */
const drawn = new Map<HTMLElement, { readonly text: string; readonly plot: uPlot }>();

/** Draws the plots whose tables have changed. */
export function drawPlots(): void {
  for (const [figure, { plot }] of drawn) {
    if (figure.isConnected) continue;
    plot.destroy();
    drawn.delete(figure);
  }
  for (const figure of document.querySelectorAll<HTMLElement>('figure.plot')) {
    const text = figure.querySelector('table')?.textContent ?? '';
    if (drawn.get(figure)?.text === text) continue;
    drawn.get(figure)?.plot.destroy();
    drawn.set(figure, { text, plot: draw(figure) });
  }
}

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  for (const { plot } of drawn.values()) plot.destroy();
  drawn.clear();
  drawPlots();
});
addEventListener('resize', () => {
  for (const [figure, { plot }] of drawn) plot.setSize(sizeOf(figure));
});

function draw(figure: HTMLElement): uPlot {
  const data = readTable(figure);
  // The style sheet hides the table until then, so that the page does not jump.
  if (figure.dataset.drawn === undefined) figure.querySelector('details')?.removeAttribute('open');
  figure.dataset.drawn = '';
  for (const node of figure.querySelectorAll('.canvas, .legend')) node.remove();
  const canvas = element('div.canvas', {
    role: 'img',
    'aria-label': describe(data),
    'data-added': '',
  });
  const keys = data.series.map(({ colour }) => {
    const key = element('span.key');
    key.style.color = `var(--${colour})`;
    return key;
  });
  const labels = data.series.map(({ label }) => element('span', label));
  const entries = labels.map((label, i) => element('li', keys[i], label));
  const legend = element('ul.legend.row', { 'data-added': '' }, ...entries);
  figure.querySelector('figcaption')?.after(canvas, legend);
  const colours = keys.map((key) => getComputedStyle(key).color);
  /** Shows the values under the pointer in the legend. */
  const point = (index: number | null | undefined) => {
    for (const [i, { label, texts }] of data.series.entries()) {
      const [entry, text] = [labels[i], texts[index ?? -1]];
      if (entry) entry.textContent = text === undefined ? label : `${label}: ${text}`;
    }
  };
  return new uPlot(options(data, colours, figure, point), plotted(data), canvas);
}

/** Reads numbers from `data` elements and times from `time` elements. */
function readTable(figure: HTMLElement) {
  const colours = figure.dataset.colours?.split(' ') ?? [];
  const headings = [...figure.querySelectorAll('thead th')].slice(1);
  const rows = [...figure.querySelectorAll('tbody tr')];
  const times = rows.map((row) => row.querySelector('time'));
  const cells = (column: number) =>
    rows.map((row) => row.querySelectorAll('td')[column]?.querySelector('data'));
  const { length } = times[0]?.dateTime ?? '';
  const unit: keyof typeof SPAN_MIN_S = length === 7 ? 'month' : length === 10 ? 'day' : 'minute';
  return {
    unit,
    isBars: figure.dataset.plot === 'bars',
    caption: figure.querySelector('figcaption')?.textContent ?? '',
    /** In seconds, as uPlot expects. */
    times: times.map((time) => Date.parse(time?.dateTime ?? '') / 1_000),
    /** The times as shown in the table. */
    names: times.map((time) => time?.textContent ?? ''),
    series: headings.map((heading, column) => ({
      label: heading.textContent ?? '',
      /** A variable of the style sheet. */
      colour: colours[column] ?? 'grey',
      /** Null where the table has no number. */
      values: cells(column).map((cell) => (cell ? Number(cell.value) : null)),
      /** The values as shown in the table. */
      texts: cells(column).map((cell, i) => `${cell?.textContent ?? '–'} (${times[i]?.textContent})`),
    })),
  };
}

function describe({ caption, series, times }: PlotData): string {
  const labels = series.map(({ label }) => label).join(', ');
  return `${caption}: ${labels}; ${times.length} data points. The numbers are in the table below.`;
}

/** Stacks bars: adds the sum of the previous series to each series, and draws the tallest first. */
function plotted({ isBars, times, series }: PlotData): uPlot.AlignedData {
  if (!isBars) return [times, ...series.map(({ values }) => values)];
  const sums = times.map(() => 0);
  const stacked = series.map(({ values }) =>
    values.map((value, i) => {
      sums[i] = (sums[i] ?? 0) + (value ?? 0);
      // Without null, the outline of an empty bar would be a line.
      return value ? sums[i] : null;
    }),
  );
  return [times, ...stacked.reverse()];
}

function options(
  data: PlotData,
  colours: readonly string[],
  figure: HTMLElement,
  point: (index: number | null | undefined) => void,
): uPlot.Options {
  const { isBars } = data;
  const bars = uPlot.paths.bars?.({ size: [0.7, 48] });
  // A canvas cannot use style sheet variables, so take the colours from elements that use them.
  const axis = {
    stroke: getComputedStyle(figure.querySelector('summary') ?? figure).color,
    grid: { stroke: getComputedStyle(figure).borderTopColor, width: 1 },
  };
  const isWhole = data.series.every(({ values }) => values.every((value) => Number.isInteger(value ?? 0)));
  const isShare = data.series.every(({ texts }) => texts.every((text) => text.includes('%')));
  const size = sizeOf(figure);
  const series = colours.map((stroke, i): uPlot.Series => {
    if (isBars && bars !== undefined) return { stroke, fill: stroke, paths: bars, points: { show: false } };
    const isolated = isolatedPoints(data.series[i]?.values ?? []);
    return { stroke, width: 2, points: { show: true, fill: stroke, filter: () => isolated } };
  });
  return {
    ...size,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: !isBars } },
    hooks: { setCursor: [({ cursor }) => point(cursor.idx)] },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC'),
    scales: {
      x: { range: xRange(data) },
      y: { range: (_, __, max) => [0, isShare ? 100 : max > 0 ? max * 1.05 : 1] },
    },
    axes: [
      { ...axis, size: 32, ...xAxis(data) },
      {
        ...axis,
        size: 56,
        ...(isWhole ? { incrs: WHOLE_STEPS } : {}),
        values: (_, values) => values.map(printNumber),
      },
    ],
    series: [{}, ...(isBars ? series.reverse() : series)],
  };
}

/** Returns a range of at least SPAN_MIN_S, with room for a bar at both ends. */
function xRange({ isBars, unit, times }: PlotData): [number, number] {
  const [first, last] = [times[0] ?? 0, times.at(-1) ?? 0];
  const start = Math.min(first, last - SPAN_MIN_S[unit]);
  const margin = isBars ? BAR_MARGIN_S[unit] : 0;
  return [start - margin, last + margin];
}

/** Labels bars with as many of the table's times as fit, and lines with round times, both in UTC. */
function xAxis({ isBars, unit, times, names }: PlotData): uPlot.Axis {
  if (!isBars)
    return { values: printTimes, incrs: TIME_STEPS_S.filter((step) => unit !== 'day' || step >= DAY_S) };
  return {
    splits: (plot, _, min, max) => {
      const pixelsPerSecond = plot.bbox.width / devicePixelRatio / (max - min);
      // From the end, because the latest bar is the one that readers look for.
      const shown: number[] = [];
      for (const time of [...times].reverse())
        if (shown[0] === undefined || (shown[0] - time) * pixelsPerSecond >= NAME_WIDTH) shown.unshift(time);
      return shown;
    },
    values: (_, shown) => shown.map((time) => withoutYear(names[times.indexOf(time)] ?? '')),
  };
}

/** `11-18` for `2026-11-18`; months keep their year. */
function withoutYear(name: string): string {
  return name.length === 10 ? name.slice(5) : name;
}

/** Formats only the part of the date that distinguishes neighbouring labels. */
function printTimes(_: uPlot, values: number[], __: number, ___: number, increment: number): string[] {
  return values.map((seconds) => {
    const text = new Date(seconds * 1_000).toISOString();
    if (increment >= 28 * DAY_S) return text.slice(0, 7);
    return increment >= DAY_S ? text.slice(5, 10) : text.slice(11, 16);
  });
}

function printNumber(value: number): string {
  return value.toLocaleString('en-US', { notation: 'compact' });
}

function sizeOf(figure: HTMLElement): { width: number; height: number } {
  const canvas = figure.querySelector('.canvas');
  return { width: canvas?.clientWidth ?? 600, height: canvas?.clientHeight ?? 200 };
}

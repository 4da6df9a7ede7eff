// Draws a plot above each marked table, from the table's numbers, and collapses the table.

import uPlot from 'uplot';
import { element } from '../element.ts';

const HEIGHT = 210;
const DAY_S = 86_400;
/** Steps between times on the axis: whole minutes or days, as printTimes() formats them. */
const INCREMENTS_S = [
  ...[1, 2, 5, 10, 15, 30, 60, 120, 360, 720].map((minutes) => minutes * 60),
  ...[1, 2, 7, 14, 28, 84, 168, 336].map((days) => days * DAY_S),
];
/** Width of a date on the axis, with padding. */
const NAME_WIDTH = 100;

/** Style sheet classes, one per series; further table columns are not drawn. */
const COLOURS = {
  lines: ['green', 'amber', 'red', 'blue', 'purple'],
  bars: ['amber', 'green', 'red', 'blue', 'purple'],
};

interface PlotData {
  readonly kind: 'lines' | 'bars';
  readonly caption: string;
  /** In seconds, as uPlot expects. */
  readonly times: number[];
  /** The times as shown in the table. */
  readonly names: readonly string[];
  readonly series: readonly { readonly label: string; readonly values: number[] }[];
}

let drawn: { readonly figure: HTMLElement; readonly plot: uPlot }[] = [];

export function drawPlots(): void {
  for (const { plot } of drawn) plot.destroy();
  const figures = [...document.querySelectorAll<HTMLElement>('figure.plot')];
  drawn = figures.map((figure) => ({ figure, plot: draw(figure) }));
}

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawPlots);
addEventListener('resize', () => {
  for (const { figure, plot } of drawn) plot.setSize({ width: widthOf(figure), height: HEIGHT });
});

function draw(figure: HTMLElement): uPlot {
  const data = readTable(figure);
  const previous = figure.querySelectorAll('.canvas, .legend');
  if (previous.length === 0) figure.querySelector('details')?.removeAttribute('open');
  for (const node of previous) node.remove();
  const canvas = element('div', { class: 'canvas', role: 'img', 'aria-label': describe(data) });
  const keys = data.series.map((_, i) => element('span', { class: `key ${COLOURS[data.kind][i]}` }));
  const entries = data.series.map(({ label }, i) => element('li', {}, keys[i], label));
  figure.querySelector('figcaption')?.after(canvas, element('ul', { class: 'legend row' }, ...entries));
  const colours = keys.map((key) => getComputedStyle(key).color);
  return new uPlot(options(data, colours, figure), plotted(data), canvas);
}

/** Reads numbers from `data` elements and times from `time` elements. */
function readTable(figure: HTMLElement): PlotData {
  const kind = figure.dataset.plot === 'bars' ? 'bars' : 'lines';
  const headings = [...figure.querySelectorAll('thead th')].slice(1, COLOURS[kind].length + 1);
  const rows = [...figure.querySelectorAll('tbody tr')];
  return {
    kind,
    caption: figure.querySelector('figcaption')?.textContent ?? '',
    times: rows.map((row) => Date.parse(row.querySelector('time')?.dateTime ?? '') / 1_000),
    names: rows.map((row) => row.querySelector('time')?.textContent ?? ''),
    series: headings.map((heading, column) => ({
      label: heading.textContent ?? '',
      values: rows.map((row) => Number(row.querySelectorAll('td')[column]?.querySelector('data')?.value)),
    })),
  };
}

function describe({ caption, series, times }: PlotData): string {
  const labels = series.map(({ label }) => label).join(', ');
  return `${caption}: ${labels}; ${times.length} data points. The numbers are in the table below.`;
}

/** Stacks bars: adds the sum of the previous series to each series, and draws the tallest first. */
function plotted({ kind, times, series }: PlotData): uPlot.AlignedData {
  if (kind === 'lines') return [times, ...series.map(({ values }) => values)];
  const sums = times.map(() => 0);
  const stacked = series.map(({ values }) => values.map((value, i) => (sums[i] = (sums[i] ?? 0) + value)));
  return [times, ...stacked.reverse()];
}

function options(data: PlotData, colours: readonly string[], figure: HTMLElement): uPlot.Options {
  const { kind, times } = data;
  const bars = uPlot.paths.bars?.({ size: [0.7, 48] });
  // A canvas cannot use style sheet variables, so take the colours from elements that use them.
  const axis = {
    stroke: getComputedStyle(figure.querySelector('summary') ?? figure).color,
    grid: { stroke: getComputedStyle(figure).borderTopColor, width: 1 },
  };
  const width = widthOf(figure);
  const series = colours.map(
    (stroke): uPlot.Series =>
      kind === 'bars' && bars !== undefined
        ? { stroke, fill: stroke, paths: bars, points: { show: false } }
        : { stroke, width: 2, points: { show: times.length < 2 } },
  );
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC'),
    scales: { x: { range: xRange(data) }, y: { range: (_, __, max) => [0, max > 0 ? max * 1.05 : 1] } },
    axes: [
      { ...axis, ...xAxis(data, width) },
      { ...axis, size: 64, values: (_, values) => values.map(printNumber) },
    ],
    series: [{}, ...(kind === 'bars' ? series.reverse() : series)],
  };
}

/** Leaves room at both ends for the width of a bar or a single point. */
function xRange({ kind, times }: PlotData): [number, number] {
  const [first, last] = [times[0] ?? 0, times.at(-1) ?? 0];
  const step = times.length < 2 ? DAY_S : (last - first) / (times.length - 1);
  return kind === 'bars' || times.length < 2 ? [first - step * 0.6, last + step * 0.6] : [first, last];
}

/** Labels bars with as many of the table's times as fit, and lines with round times, both in UTC. */
function xAxis({ kind, times, names }: PlotData, width: number): uPlot.Axis {
  if (kind === 'lines') return { values: printTimes, incrs: INCREMENTS_S };
  const every = Math.ceil((times.length * NAME_WIDTH) / width);
  const isShown = (_: unknown, i: number) => i % every === 0;
  return { splits: () => times.filter(isShown), values: () => names.filter(isShown) };
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

function widthOf(figure: HTMLElement): number {
  return figure.querySelector('.canvas')?.clientWidth ?? 600;
}

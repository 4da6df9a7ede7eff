// Draws a plot above each marked table, from the table's numbers, and collapses the table.

import uPlot from 'uplot';
import { element } from '../element.ts';

const HEIGHT = 210;
const SERIES_MAX = 5;
const DAY_S = 86_400;
/** Steps between the times on the axis; none is finer than their printed form. */
const INCREMENTS_S = [
  ...[1, 2, 5, 10, 15, 30, 60, 120, 360, 720].map((minutes) => minutes * 60),
  ...[1, 2, 7, 14, 28, 84, 168, 336].map((days) => days * DAY_S),
];
/** Width of a date on the axis, with padding. */
const NAME_WIDTH = 100;

interface Series {
  readonly label: string;
  readonly values: readonly number[];
}

interface PlotData {
  readonly kind: 'lines' | 'bars';
  readonly caption: string;
  /** In seconds, as uPlot expects. */
  readonly times: readonly number[];
  /** The times as printed in the table. */
  readonly names: readonly string[];
  readonly series: readonly Series[];
}

/** Current plots, redrawn when the window or the colour scheme changes. */
let drawn: { readonly figure: HTMLElement; plot: uPlot }[] = [];

export function drawPlots(document: Document): void {
  for (const { plot } of drawn) plot.destroy();
  drawn = [...document.querySelectorAll<HTMLElement>('figure.plot')].map((figure) => ({
    figure,
    plot: draw(figure),
  }));
}

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => drawPlots(document));
addEventListener('resize', () => {
  for (const { figure, plot } of drawn) plot.setSize({ width: widthOf(figure), height: HEIGHT });
});

function draw(figure: HTMLElement): uPlot {
  const data = readTable(figure);
  figure.querySelector('.canvas')?.remove();
  figure.querySelector('.legend')?.remove();
  const canvas = element('div', { class: 'canvas', role: 'img', 'aria-label': describe(data) });
  const legend = element(
    'ul',
    { class: 'legend' },
    ...data.series.map(({ label }, i) => legendEntry(label, i)),
  );
  figure.querySelector('figcaption')?.after(canvas, legend);
  const isFirst = figure.dataset.drawn === undefined;
  figure.dataset.drawn = '';
  if (isFirst) figure.querySelector('details')?.removeAttribute('open');
  const colours = [...legend.querySelectorAll('.key')].map((key) => getComputedStyle(key).color);
  return new uPlot(options(data, colours, figure), plotted(data), canvas);
}

/** Reads numbers from `data` elements and times from `time` elements. */
function readTable(figure: HTMLElement): PlotData {
  const headings = [...figure.querySelectorAll('thead th')].slice(1, SERIES_MAX + 1);
  const rows = [...figure.querySelectorAll('tbody tr')];
  return {
    kind: figure.dataset.plot === 'bars' ? 'bars' : 'lines',
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
  return `${caption}: ${series.map(({ label }) => label).join(', ')}, at ${times.length} times. The numbers are in the table below.`;
}

function legendEntry(label: string, i: number): HTMLElement {
  return element('li', {}, element('span', { class: `key series-${i}` }), label);
}

/** Stacks bars: each series becomes the sum of itself and the previous ones, and the tallest is drawn first. */
function plotted({ kind, times, series }: PlotData): uPlot.AlignedData {
  if (kind === 'lines') return [[...times], ...series.map(({ values }) => [...values])];
  const sums = times.map(() => 0);
  const stacked = series.map(({ values }) => values.map((value, i) => (sums[i] = (sums[i] ?? 0) + value)));
  return [[...times], ...stacked.toReversed()];
}

function options(data: PlotData, colours: readonly string[], figure: HTMLElement): uPlot.Options {
  const { kind, series, times } = data;
  const order = series.map((_, i) => i);
  const bars = uPlot.paths.bars?.({ size: [0.7, 48] });
  const axis = {
    stroke: colourOf(figure, 'axis'),
    grid: { stroke: colourOf(figure, 'grid-line'), width: 1 },
  };
  const width = widthOf(figure);
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
    series: [
      {},
      ...(kind === 'bars' ? order.toReversed() : order).map((i): uPlot.Series => {
        const stroke = colours[i] ?? '';
        return kind === 'bars' && bars !== undefined
          ? { stroke, fill: stroke, paths: bars, points: { show: false } }
          : { stroke, width: 2, points: { show: times.length < 2 } };
      }),
    ],
  };
}

/** Adds room at both ends for the width of bars, and for a single point. */
function xRange({ kind, times }: PlotData): [number, number] {
  const [first, last] = [times[0] ?? 0, times.at(-1) ?? 0];
  const step = times.length < 2 ? DAY_S : (last - first) / (times.length - 1);
  return kind === 'bars' || times.length < 2 ? [first - step * 0.6, last + step * 0.6] : [first, last];
}

/** Labels bars with the table's times, as many as fit, and lines with round times. Both in UTC. */
function xAxis({ kind, times, names }: PlotData, width: number): uPlot.Axis {
  if (kind === 'lines') return { values: printTimes, incrs: INCREMENTS_S };
  const every = Math.ceil((times.length * NAME_WIDTH) / width);
  const shown = times.map((_, i) => i).filter((i) => i % every === 0);
  return { splits: () => shown.map((i) => times[i] ?? 0), values: () => shown.map((i) => names[i] ?? '') };
}

/** Prints the part of the date that distinguishes neighbouring labels. */
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

/** Reads a colour from the style sheet, which a canvas cannot use directly. */
function colourOf(figure: HTMLElement, name: string): string {
  const probe = element('span', { class: name });
  figure.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

// Draws a plot above each table that is marked for it, from the numbers in the table. The table then folds away.

import uPlot from 'uplot';
import { element } from '../element.ts';

const HEIGHT = 210;
const SERIES_MAX = 5;
const DAY_S = 86_400;
/** Between times below the axis: none is finer than what is printed of them. */
const INCREMENTS_S = [
  ...[1, 2, 5, 10, 15, 30, 60, 120, 360, 720].map((minutes) => minutes * 60),
  ...[1, 2, 7, 14, 28, 84, 168, 336].map((days) => days * DAY_S),
];
/** Of a date below the axis, with some room. */
const NAME_WIDTH = 100;

interface Series {
  readonly label: string;
  readonly values: readonly number[];
}

interface PlotData {
  readonly kind: 'lines' | 'bars';
  readonly caption: string;
  /** In seconds, as uPlot wants it. */
  readonly times: readonly number[];
  /** What the table calls the times. */
  readonly names: readonly string[];
  readonly series: readonly Series[];
}

/** Those that are drawn, to be drawn again when the window or the colours change. */
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

/** The numbers are in `data` elements, the moments in `time` elements. */
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

/** Bars are stacked: each series is drawn from the ground to the sum of itself and those before it, the highest first. */
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

/** Bars have a width; a single point needs some room, too. */
function xRange({ kind, times }: PlotData): [number, number] {
  const [first, last] = [times[0] ?? 0, times.at(-1) ?? 0];
  const step = times.length < 2 ? DAY_S : (last - first) / (times.length - 1);
  return kind === 'bars' || times.length < 2 ? [first - step * 0.6, last + step * 0.6] : [first, last];
}

/** Below bars stands what the table calls them, as often as there is room; below lines, round times. UTC, both. */
function xAxis({ kind, times, names }: PlotData, width: number): uPlot.Axis {
  if (kind === 'lines') return { values: printTimes, incrs: INCREMENTS_S };
  const every = Math.ceil((times.length * NAME_WIDTH) / width);
  const shown = times.map((_, i) => i).filter((i) => i % every === 0);
  return { splits: () => shown.map((i) => times[i] ?? 0), values: () => shown.map((i) => names[i] ?? '') };
}

/** As much of the date as tells neighbours apart. */
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

/** The canvas knows no style sheet. */
function colourOf(figure: HTMLElement, name: string): string {
  const probe = element('span', { class: name });
  figure.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

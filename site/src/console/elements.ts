// The building blocks of console pages. Numbers are `data` elements and times are `time` elements, so that the script can
// draw plots from tables.

import { printCount } from '@offerbook/wire/count.ts';
import { printJson } from '@offerbook/wire/decimal.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import { type Cell, dataTable } from '../data-table.ts';
import { type Html, html } from '../html.ts';

export function number(value: number): Html {
  return html`<data value="${value}">${printCount(value)}</data>`;
}

/** Renders a number with a fixed number of decimals. */
export function decimal(value: number, digits: number): Html {
  const text = value.toLocaleString('en-US', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return html`<data value="${value}">${text}</data>`;
}

/** Renders a count in a table or row of counts. Zeros are muted, so that the other counts stand out. */
export function counter(value: number): Html {
  return value === 0 ? html`<data class="muted" value="0">0</data>` : number(value);
}

/** An amount of money: a number, or an exact sum. */
export type Money = number | { toJSON(): unknown };

/** Renders an amount with all its digits, and at least as many decimals as the currency has: 2,878 JPY and 2,878.00 EUR. */
export function amount(value: Money, currency: string): Html {
  const [whole = '', fraction = ''] = printJson(value).split('.');
  const decimals = fraction.padEnd(decimalsOf(currency), '0');
  const end = decimals === '' ? '' : `.${decimals}`;
  return html`<data value="${whole}${end}">${whole.replaceAll(THOUSANDS, ',')}${end}</data> ${currency}`;
}

/** Matches the positions of thousands separators: 3, 6, … digits before the end. */
const THOUSANDS = /(?<=\d)(?=(?:\d{3})+$)/g;

function decimalsOf(currency: string): number {
  const { maximumFractionDigits = 2 } = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
  }).resolvedOptions();
  return maximumFractionDigits;
}

/** Renders `3.25%`, or a dash if the whole is 0. */
export function share(part: number, whole: number): Html {
  if (whole === 0) return html`–`;
  const percent = (100 * part) / whole;
  return html`<data value="${percent}">${percent.toFixed(percent > 0 && percent < 10 ? 2 : 1)}%</data>`;
}

/** Renders a time in UTC, to the second. In a narrow column, the time of day is below the date. */
export function moment(ms: number): Html {
  const [date = '', time = ''] = printTimestamp(ms).slice(0, 19).split('T');
  return html`<time datetime="${new Date(ms).toISOString()}"><span>${date}</span> <span>${time}</span></time>`;
}

export function day(ms: number): Html {
  const text = new Date(ms).toISOString().slice(0, 10);
  return html`<time datetime="${text}">${text}</time>`;
}

export function minute(ms: number): Html {
  return html`<time datetime="${new Date(ms).toISOString()}">${new Date(ms).toISOString().slice(11, 16)}</time>`;
}

/** Renders the distance from now, past or future. The exact time is in the tooltip. */
export function ago(ms: number | null | undefined, nowMs: number): Html {
  if (ms === null || ms === undefined) return html`never`;
  const exact = printTimestamp(ms).slice(0, 19).replace('T', ' ');
  return html`<time datetime="${new Date(ms).toISOString()}" title="${exact} UTC"><span>${distance(nowMs - ms)}</span></time>`;
}

function distance(agoMs: number): string {
  if (Math.abs(agoMs) < 1_000) return 'now';
  return agoMs > 0 ? `${duration(agoMs)} ago` : `in ${duration(-agoMs)}`;
}

/** `40 ms`, `4 s`, `12 min`, `3 h`, `5 d` */
export function duration(ms: number): string {
  const seconds = ms / 1_000;
  if (seconds < 1) return `${Math.round(ms)} ms`;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`;
  if (seconds < 48 * 3_600) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

/** Renders a response time. */
export function milliseconds(ms: number): Html {
  return html`<data value="${ms}">${ms < 1 ? ms.toFixed(2) : ms.toFixed(1)} ms</data>`;
}

/** `78.7 GB` */
export function gigabytes(count: number): string {
  return `${(count / 1e9).toFixed(1)} GB`;
}

/** `312 MB` */
export function megabytes(count: number): string {
  return `${printCount(Math.round(count / 1e6))} MB`;
}

/** Renders the last digits of an id. The tooltip has the whole id, and so has a copy of the text. */
export function shortId(id: string): Html {
  const end = id.slice(-SHOWN_DIGITS);
  return html`<code class="id" title="${id}"><span>${id.slice(0, -SHOWN_DIGITS)}</span>${end}</code>`;
}

/** Ids that were created at about the same time begin with the same digits. */
const SHOWN_DIGITS = 8;

/** `pending` marks states that are neither good nor bad yet. */
export function tag(text: string, tone: 'good' | 'bad' | 'pending' | 'plain' = 'plain'): Html {
  return html`<span class="tag ${tone}">${text}</span>`;
}

/** Renders a table, or a sentence if there are no rows. Each column has a heading and a function that renders its cells. */
export function table<Row>(
  caption: string,
  rows: readonly Row[],
  columns: Readonly<Record<string, (row: Row) => Cell>>,
  ifEmpty = 'Nothing yet.',
): Html {
  if (rows.length === 0) return html`<p class="muted">${ifEmpty}</p>`;
  const cells = rows.map((row) => Object.values(columns).map((cell) => cell(row)));
  return dataTable(caption, Object.keys(columns), cells);
}

/** States how many of the rows a table shows; undefined if it shows all of them. */
export function shownOf(which: string, shown: number, all: number): Html | undefined {
  return all > shown
    ? html`<p class="muted">The ${which} ${number(shown)} of ${number(all)}.</p>`
    : undefined;
}

/** Use red only for what an operator should prevent. */
export type Colour = 'green' | 'amber' | 'red' | 'blue' | 'purple' | 'grey';

/** A line, or a part of each bar: its colour, and its number in a row of the table. */
type Series<Row> = readonly [colour: Colour, number: (row: Row) => Cell];

/** Renders a table of numbers over time, which the script draws as a plot. */
export function plot<Row>(
  kind: 'lines' | 'bars',
  caption: string,
  rows: readonly Row[],
  time: Readonly<Record<string, (row: Row) => Cell>>,
  series: Readonly<Record<string, Series<Row>>>,
): Html {
  const colours = Object.values(series).map(([colour]) => colour);
  const numbers = Object.entries(series).map(([label, [, cell]]) => [label, cell] as const);
  if (rows.length === 0) return html`<p class="muted">${caption}: nothing yet.</p>`;
  return html`<figure class="plot panel stack" data-plot="${kind}" data-colours="${colours.join(' ')}"><figcaption>${caption}</figcaption>
<details open><summary>Table<span class="unseen"> of ${caption}</span></summary>${table(caption, rows, { ...time, ...Object.fromEntries(numbers) })}</details></figure>`;
}

/** Renders plots side by side. */
export function plots(...figures: readonly (Html | undefined)[]): Html {
  return html`<div class="plots">${figures}</div>`;
}

/** Renders a share as a number and a bar. */
export function shareBar(part: number, whole: number): Html {
  const width = whole === 0 ? 0 : (100 * part) / whole;
  return html`${share(part, whole)} <svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect width="${width.toFixed(1)}" height="8"/></svg>`;
}

/** A number with a link to the page behind it. */
export function linked(href: string, content: Cell): Html {
  return html`<a href="${href}">${content}</a>`;
}

/** Links the name of an organisation to its part of a page, by default to its transactions. */
export function organisationLink(name: string, page = '/transactions'): Html {
  return linked(pathFor(page, name), html`<bdi>${name}</bdi>`);
}

/** Path of a page that shows one organisation. */
export function pathFor(page: string, org: string): string {
  return `${page}?${new URLSearchParams({ org })}`;
}

/** Renders names and values in rows of four. `wide` leaves room for ids, and `counters` fit in one row. */
export function facts(
  named: Readonly<Record<string, Cell>>,
  layout: 'tiles' | 'panel' | 'wide panel' | 'counters panel' = 'panel',
): Html {
  return html`<dl class="facts ${layout}">${Object.entries(named).map(([name, value]) => html`<div${layout === 'tiles' ? html` class="panel"` : undefined}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** Names the commands and metrics that report the numbers of a section. */
export function source(...names: readonly string[]): Html {
  return html`<p class="source">From ${names.map((name, i) => html`${i === 0 ? '' : ', '}<code>${name}</code>`)}</p>`;
}

/** Renders a command to copy. The console itself is read-only. */
export function command(about: string, text: string): Html {
  return html`<div class="command row"><p>${about}</p><pre tabindex="0"><code>${text}</code></pre></div>`;
}

/** Folds commands that are not needed every day. Each has a text that introduces it. */
export function commands(introduced: Readonly<Record<string, string>>): Html {
  const blocks = Object.entries(introduced).map(([about, text]) => command(about, text));
  return html`<details><summary>Commands</summary><div class="commands stack">${blocks}</div></details>`;
}

/** Renders a section. Its id is the heading, such as `by-retailer` for "By retailer". */
export function section(heading: string, ...content: readonly (Html | undefined)[]): Html {
  const id = heading.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  return html`<section class="stack" id="${id}"><h2>${heading}</h2>${content}</section>`;
}

/** Renders a section whose content needs no heading, such as a plot with its caption. */
export function untitled(...content: readonly (Html | undefined)[]): Html {
  return html`<section class="stack">${content}</section>`;
}

/** Renders a select field with its current value. */
export function choice(
  label: string,
  name: string,
  options: readonly (readonly [value: string, text: string])[],
  chosen: string,
): Html {
  return html`<label>${label}<span class="field"><select name="${name}">${options.map(
    ([value, text]) =>
      html`<option value="${value}"${value === chosen ? html` selected` : undefined}>${text}</option>`,
  )}</select></span></label>`;
}

/** Renders a select field for one of the values, with the option "All". */
export function choiceOrAll(
  label: string,
  name: string,
  values: readonly string[],
  chosen: string | undefined,
): Html {
  const options = values.map((value) => [value, value] as const);
  return choice(label, name, [['', 'All'], ...options], chosen ?? '');
}

interface OrganisationOption {
  readonly publicId: string;
  readonly name: string;
}

/** Renders a select field for the organisation, with the option "All". */
export function organisationChoice(
  organisations: readonly OrganisationOption[],
  chosen: OrganisationOption | undefined,
): Html {
  const options = organisations.map(({ publicId, name }) => [publicId, name] as const);
  return choice('Organisation', 'org', [['', 'All'], ...options], chosen?.publicId ?? '');
}

/** Renders a field for a time to the second. Without a suitable picker, a browser shows a text field. */
export function timeField(label: string, name: string, value: string): Html {
  return html`<label>${label}<input type="datetime-local" step="1" name="${name}" value="${value}" max="9999-12-31T23:59:59"></label>`;
}

/** Quotes a word for a POSIX shell if necessary. */
export function shellWord(word: string): string {
  return /^[\w./:@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

// Draws a scatter plot with two logarithmic axes, as an SVG that is readable on light and dark pages.

export interface Series {
  readonly name: string;
  readonly colour: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface Axis {
  readonly label: string;
  readonly ticks: readonly (readonly [value: number, label: string])[];
}

const WIDTH = 860;
const HEIGHT = 440;
const MARGIN = { left: 70, right: 20, top: 40, bottom: 50 };

export function scatterPlot(title: string, x: Axis, y: Axis, series: readonly Series[]): string {
  const place = (axis: Axis, from: number, to: number) => {
    const [low, high] = [axis.ticks[0]?.[0] ?? 1, axis.ticks.at(-1)?.[0] ?? 10].map(Math.log10) as [
      number,
      number,
    ];
    return (value: number) => (from + ((Math.log10(value) - low) / (high - low)) * (to - from)).toFixed(1);
  };
  const px = place(x, MARGIN.left, WIDTH - MARGIN.right);
  const py = place(y, HEIGHT - MARGIN.bottom, MARGIN.top);
  const grid = [
    ...x.ticks.map(
      ([value, label]) =>
        `<path d="M${px(value)} ${MARGIN.top}V${HEIGHT - MARGIN.bottom}" stroke="#8884"/><text x="${px(value)}" y="${HEIGHT - MARGIN.bottom + 18}" text-anchor="middle">${label}</text>`,
    ),
    ...y.ticks.map(
      ([value, label]) =>
        `<path d="M${MARGIN.left} ${py(value)}H${WIDTH - MARGIN.right}" stroke="#8884"/><text x="${MARGIN.left - 8}" y="${py(value)}" dy="4" text-anchor="end">${label}</text>`,
    ),
  ];
  const dots = series.map(
    ({ colour, points }) =>
      `<g fill="${colour}" fill-opacity=".55">${points.map(([a, b]) => `<circle cx="${px(a)}" cy="${py(b)}" r="2.2"/>`).join('')}</g>`,
  );
  const legend = series.map(
    ({ name, colour }, i) =>
      `<circle cx="${MARGIN.left + 8 + i * 200}" cy="28" r="4" fill="${colour}"/><text x="${MARGIN.left + 18 + i * 200}" y="32">${name}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="system-ui, sans-serif" font-size="12" fill="#888"><title>${title}</title><text x="${MARGIN.left}" y="14" font-weight="bold">${title}</text>${grid.join('')}${dots.join('')}${legend.join('')}<text x="${WIDTH / 2}" y="${HEIGHT - 10}" text-anchor="middle">${x.label}</text><text transform="translate(16 ${HEIGHT / 2}) rotate(-90)" text-anchor="middle">${y.label}</text></svg>\n`;
}

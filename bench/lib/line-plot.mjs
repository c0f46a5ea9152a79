// A line plot as SVG text without anything outside it: curves over a shared x, a legend, grid lines.

const WIDTH = 760
const HEIGHT = 420
const LEFT = 60
const RIGHT = 200
const TOP = 40
const BOTTOM = 50

/**
 * `curves`: { name, color, dashed?, points: [[x, y], ...] }. The y axis is logarithmic; `xTicks` and `yTicks` are where grid lines go, the first
 * and last of them the ends of the axes.
 */
export function linePlot({ title, xLabel, yLabel, xTicks, yTicks, curves }) {
  const [x0, x1] = [xTicks[0], xTicks.at(-1)]
  const [y0, y1] = [Math.log(yTicks[0]), Math.log(yTicks.at(-1))]
  const x = (value) => (LEFT + ((value - x0) / (x1 - x0)) * (WIDTH - LEFT - RIGHT)).toFixed(1)
  const y = (value) => (HEIGHT - BOTTOM - ((Math.log(value) - y0) / (y1 - y0)) * (HEIGHT - TOP - BOTTOM)).toFixed(1)
  const [right, bottom] = [WIDTH - RIGHT, HEIGHT - BOTTOM]
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    '<rect width="100%" height="100%" fill="#fff"/>',
    `<text x="${LEFT}" y="22" font-weight="bold">${title}</text>`,
    ...xTicks.map(
      (tick) =>
        `<path d="M${x(tick)} ${TOP}V${bottom}" stroke="#e4e8ee"/><text x="${x(tick)}" y="${bottom + 16}" text-anchor="middle">${tick}</text>`,
    ),
    ...yTicks.map(
      (tick) =>
        `<path d="M${LEFT} ${y(tick)}H${right}" stroke="#e4e8ee"/><text x="${LEFT - 6}" y="${Number(y(tick)) + 4}" text-anchor="end">${tick}</text>`,
    ),
    `<text x="${(LEFT + right) / 2}" y="${HEIGHT - 12}" text-anchor="middle">${xLabel}</text>`,
    `<text transform="translate(18 ${(TOP + bottom) / 2}) rotate(-90)" text-anchor="middle">${yLabel}</text>`,
  ]
  curves.forEach(({ name, color, dashed, points }, i) => {
    const dash = dashed ? ' stroke-dasharray="6 4"' : ''
    const path = points.map(([px, py], j) => `${j === 0 ? 'M' : 'L'}${x(px)} ${y(py)}`).join('')
    parts.push(`<path d="${path}" fill="none" stroke="${color}" stroke-width="2"${dash}/>`)
    if (!dashed) parts.push(...points.map(([px, py]) => `<circle cx="${x(px)}" cy="${y(py)}" r="3" fill="${color}"/>`))
    const at = TOP + 10 + 20 * i
    parts.push(
      `<path d="M${right + 14} ${at}h24" stroke="${color}" stroke-width="2"${dash}/><text x="${right + 44}" y="${at + 4}">${name}</text>`,
    )
  })
  return `${parts.join('\n')}\n</svg>\n`
}

import type { Report, Size } from './report.js'
import { escape, lineHeight, linesOf, SCHEME, textLines } from './svg-text.js'

interface Tile {
  readonly label: string
  readonly bytes: number
  readonly fill: string
}
interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

const WIDTH = 1200
const HEIGHT = 700
/** Above the boxes, for a title of one line. */
const HEAD = 40
const TITLE = 16

/** A picture of what the selected build is made of: areas are bytes, kernels on the left, JavaScript files on the right. */
export function treemap(report: Report): string {
  const kernels = tiles(
    Object.entries(report.kernels).map(([name, size]: [string, Size]) => [name, size.after]),
    '#4a7fb5',
  )
  const files = tiles(Object.entries(report.files), '#7a9a4a')
  const native = sum(kernels)
  const split = native + sum(files) === 0 ? WIDTH / 2 : (WIDTH * native) / (native + sum(files))
  const title = `kernels ${kB(native)}, JavaScript ${kB(sum(files))}; levels ${report.levels.join(', ')}; dtypes ${report.dtypes}`
  const lines = linesOf(title, WIDTH - 16, TITLE)
  const head = HEAD + (lines.length - 1) * lineHeight(TITLE)
  const boxes = [
    ...layOut(kernels, { x: 0, y: head, width: split, height: HEIGHT - HEAD }),
    ...layOut(files, { x: split, y: head, width: WIDTH - split, height: HEIGHT - HEAD }),
  ]
  const height = HEIGHT - HEAD + head
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="11">
${SCHEME}
<rect class="paper" width="${WIDTH}" height="${height}"/>
${textLines(lines, 8, 25, TITLE)}
${boxes.map(draw).join('')}</svg>
`
}

function tiles(sizes: readonly (readonly [string, number])[], fill: string): Tile[] {
  const held = sizes.filter(([, bytes]) => bytes > 0).map(([label, bytes]) => ({ label, bytes, fill }))
  return held.sort((a, b) => b.bytes - a.bytes)
}

const sum = (items: readonly Tile[]): number => items.reduce((bytes, item) => bytes + item.bytes, 0)
const kB = (bytes: number): string => `${(bytes / 1000).toFixed(1)} kB`

/** Halves the tiles by bytes along the longer side until one is left in each box. */
function layOut(items: readonly Tile[], box: Box): [Tile, Box][] {
  if (items.length === 0) return []
  if (items.length === 1) return [[items[0]!, box]]
  const total = sum(items)
  let count = 1
  let first = items[0]!.bytes
  while (count < items.length - 1 && first + items[count]!.bytes / 2 < total / 2) first += items[count++]!.bytes
  const share = first / total
  const wide = box.width > box.height
  const a = wide ? { ...box, width: box.width * share } : { ...box, height: box.height * share }
  const b = wide
    ? { ...box, x: box.x + a.width, width: box.width - a.width }
    : { ...box, y: box.y + a.height, height: box.height - a.height }
  return [...layOut(items.slice(0, count), a), ...layOut(items.slice(count), b)]
}

function draw([tile, { x, y, width, height }]: [Tile, Box]): string {
  const label = `${tile.label.split('/').pop()!} ${kB(tile.bytes)}`
  const fits = width > 6.2 * label.length && height > 16
  const at = `x="${x.toFixed(1)}" y="${y.toFixed(1)}"`
  return `<g><title>${escape(`${tile.label}: ${tile.bytes} bytes`)}</title><rect ${at} width="${width.toFixed(1)}" height="${height.toFixed(1)}" class="edge" fill="${tile.fill}"/>${
    fits ? `<text x="${(x + 4).toFixed(1)}" y="${(y + 14).toFixed(1)}" fill="#fff">${escape(label)}</text>` : ''
  }</g>\n`
}

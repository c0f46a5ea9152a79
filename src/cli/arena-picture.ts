import type { ArenaBuffer, ArenaUse } from '../index.js'
import { escape, lineHeight, linesOf, SCHEME, textLines } from '../../selective-build/report/svg-text.js'
import { formatBytes } from '../format-bytes.js'

const WIDTH = 1200
const HEIGHT = 640
const LEFT = 90
const RIGHT = 1000
const TOP = 60
const BOTTOM = 590
const TITLE = 16
const TEXT = 12
/** Where texts of the legend begin. */
const LEGEND = RIGHT + 36
/** Kinds that have a colour and a place in the legend; what is left is grey. */
const COLOURS = ['#4a7fb5', '#7a9a4a', '#b5694a', '#8a63a8', '#c2a13c', '#4aa39b', '#b0567d', '#5d6fc4', '#96794f', '#6b8f71']
const OTHER = '#9aa2ab'

/**
 * An arena over time as SVG: frames from left to right, bytes upwards, a rectangle for each buffer with its names, size and frames in a title.
 * The dashed line is the most that is alive at one frame, which the arena cannot be smaller than; the curve is what is alive.
 */
export function arenaPicture(title: string, use: ArenaUse): string {
  const { kernels, buffers, arenaBytes, lowerBound, naiveBytes } = use
  const frames = Math.max(kernels.length, 1)
  const top = Math.max(arenaBytes, 1)
  const x = (frame: number): number => LEFT + ((RIGHT - LEFT) * frame) / frames
  const y = (byte: number): number => BOTTOM - ((BOTTOM - TOP) * byte) / top
  const colours = coloursOf(buffers)
  const summary = `arena ${formatBytes(arenaBytes)}, lower bound ${formatBytes(lowerBound)}, sum of all buffers ${formatBytes(naiveBytes)}`
  const titles = linesOf(title, WIDTH - LEFT - 8, TITLE)
  // what is below the title moves down with its lines
  const down = (titles.length - 1) * lineHeight(TITLE)
  const { text: kinds, bottom } = legend(colours, buffers)
  const height = Math.max(HEIGHT, bottom) + down
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="${TEXT}">
${SCHEME}
<rect class="paper" width="${WIDTH}" height="${height}"/>
${textLines(titles, LEFT, 24, TITLE)}
<g transform="translate(0 ${down})">
${textLines([summary], LEFT, 44, TEXT, 'faint')}
${axes(kernels.length, arenaBytes, x, y)}
${buffers.map((buffer) => rectangle(buffer, kernels, x, y, colours.get(kindOf(buffer)) ?? OTHER)).join('\n')}
<path class="live curve" d="${liveCurve(buffers, kernels.length, x, y)}" fill="none" stroke-width="1"/>
<path class="lower-bound" d="M${LEFT} ${at(y(lowerBound))}H${RIGHT}" stroke="#c00" stroke-width="1.5" stroke-dasharray="6 4"/>
${kinds}
</g>
</svg>
`
}

/** The operator or kernel that made a buffer, without the names of its values. */
function kindOf({ names }: ArenaBuffer): string {
  return names[0]!.split(' = ').at(-1)!
}

/** Colours of the kinds with most bytes, largest first. */
function coloursOf(buffers: readonly ArenaBuffer[]): Map<string, string> {
  const bytes = new Map<string, number>()
  for (const buffer of buffers) bytes.set(kindOf(buffer), (bytes.get(kindOf(buffer)) ?? 0) + buffer.bytes)
  const kinds = [...bytes].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).map(([kind]) => kind)
  return new Map(kinds.slice(0, COLOURS.length).map((kind, i) => [kind, COLOURS[i]!]))
}

type Scale = (value: number) => number

function rectangle(
  { names, offset, bytes, first, last }: ArenaBuffer,
  kernels: readonly string[],
  x: Scale,
  y: Scale,
  fill: string,
): string {
  const title = [
    names.join(', then '),
    `${bytes} bytes from byte ${offset}`,
    `frames ${first} (${kernels[first]}) to ${last} (${kernels[last]})`,
  ].join('\n')
  const [left, upper] = [x(first), y(offset + bytes)]
  const size = `width="${at(x(last + 1) - left)}" height="${at(y(offset) - upper)}"`
  return `<rect class="buffer" x="${at(left)}" y="${at(upper)}" ${size} fill="${fill}"><title>${escape(title)}</title></rect>`
}

function axes(frames: number, arenaBytes: number, x: Scale, y: Scale): string {
  const bytes = [0, 0.25, 0.5, 0.75, 1].map((share) => Math.round(share * arenaBytes))
  const steps = [...new Set([0, 0.25, 0.5, 0.75, 1].map((share) => Math.round(share * frames)))]
  return [
    ...bytes.map(
      (byte) =>
        `<path d="M${LEFT} ${at(y(byte))}H${RIGHT}" class="grid"/><text class="ink" x="${LEFT - 8}" y="${at(y(byte) + 4)}" text-anchor="end">${formatBytes(byte)}</text>`,
    ),
    ...steps.map((step) => `<text class="ink" x="${at(x(step))}" y="${BOTTOM + 18}" text-anchor="middle">${step}</text>`),
    `<text class="ink" x="${(LEFT + RIGHT) / 2}" y="${BOTTOM + 38}" text-anchor="middle">kernel calls of a run</text>`,
  ].join('\n')
}

/** Bytes of the buffers that are alive, frame by frame. */
function liveCurve(buffers: readonly ArenaBuffer[], frames: number, x: Scale, y: Scale): string {
  const changes = new Array<number>(frames + 1).fill(0)
  for (const { bytes, first, last } of buffers) {
    changes[first]! += bytes
    changes[last + 1]! -= bytes
  }
  let live = 0
  let path = `M${LEFT} ${at(y(0))}`
  for (let frame = 0; frame < frames; frame++) {
    live += changes[frame]!
    path += `V${at(y(live))}H${at(x(frame + 1))}`
  }
  return path
}

/** What colours and lines mean, and where that ends. */
function legend(colours: ReadonlyMap<string, string>, buffers: readonly ArenaBuffer[]): { readonly text: string; readonly bottom: number } {
  const rows = [...colours].map(([kind, fill]) => ({
    text: kind,
    mark: (y: number) => `<rect x="${RIGHT + 16}" y="${y - 10}" width="12" height="12" fill="${fill}"/>`,
  }))
  if (buffers.some((buffer) => !colours.has(kindOf(buffer))))
    rows.push({ text: 'others', mark: (y) => `<rect x="${RIGHT + 16}" y="${y - 10}" width="12" height="12" fill="${OTHER}"/>` })
  const line = (stroke: string) => (y: number) => `<path d="M${RIGHT + 14} ${y - 4}h16" ${stroke}/>`
  rows.push({ text: 'alive', mark: line('class="curve"') })
  rows.push({ text: 'lower bound', mark: line('class="lower-bound" stroke="#c00" stroke-dasharray="6 4"') })
  let y = TOP + 16
  const drawn = rows.map(({ text, mark }) => {
    const lines = linesOf(text, WIDTH - LEGEND - 4, TEXT)
    const row = `${mark(y)}${textLines(lines, LEGEND, y, TEXT)}`
    y += 20 + (lines.length - 1) * lineHeight(TEXT)
    return row
  })
  return { text: drawn.join('\n'), bottom: y }
}

function at(coordinate: number): string {
  return coordinate.toFixed(2)
}

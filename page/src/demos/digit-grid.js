/** The digits that the network was trained on: drawings of 32 x 32 dots, of which each of 8 x 8 cells counts 16. */
export const DOTS = 32
export const CELLS = 8
const BLOCK = DOTS / CELLS

/** Counts the dots of each block of 4 x 4. `dots`: a byte each, row by row, 0 for none. */
export function countCells(dots) {
  const cells = new Uint8Array(CELLS * CELLS)
  for (let y = 0; y < DOTS; y++)
    for (let x = 0; x < DOTS; x++) if (dots[DOTS * y + x] > 0) cells[CELLS * Math.floor(y / BLOCK) + Math.floor(x / BLOCK)]++
  return cells
}

/**
 * Brings strokes into the middle of the 32 x 32 dots, as tall as the digits of the training set were. `strokes`: lists of points { x, y }. Returns the scale and shift that
 * do so; null where nothing is drawn.
 */
export function fitStrokes(strokes) {
  const points = strokes.flat()
  if (points.length === 0) return null
  const [left, right] = [Math.min(...points.map(({ x }) => x)), Math.max(...points.map(({ x }) => x))]
  const [top, bottom] = [Math.min(...points.map(({ y }) => y)), Math.max(...points.map(({ y }) => y))]
  const size = Math.max(bottom - top, right - left, 1e-6)
  const scale = Math.min((DOTS - 5) / size, (DOTS - 5) / Math.max(bottom - top, 1e-6))
  return { scale, x: DOTS / 2 - (scale * (left + right)) / 2, y: DOTS / 2 - (scale * (top + bottom)) / 2 }
}

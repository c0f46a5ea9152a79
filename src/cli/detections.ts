import { type Output, Tensor } from '../index.js'
import { table } from './format.js'

/** What detectors return, boxes [n, 4] with scores [n] and classes [n] for each. */
interface Found {
  readonly boxes: Tensor
  readonly scores: Tensor
  readonly classes: Tensor
}

export interface Detection {
  readonly index: number
  readonly label: string
  readonly score: number
  /** Left, top, right and bottom, as torchvision's detectors have it: in pixels of what the model was given. */
  readonly box: readonly number[]
}

/** Tensors for boxes, scores and classes: of a dict with torchvision's names, of a list or tuple by their sizes and dtypes, or of the first of these in a list. */
export function detectionsIn(value: Output): Found | undefined {
  if (value instanceof Map) return foundIn([value.get('boxes'), value.get('scores'), value.get('labels')])
  if (!Array.isArray(value)) return undefined
  const own = foundIn(value)
  if (own !== undefined) return own
  for (const item of value) {
    const found = detectionsIn(item)
    if (found !== undefined) return found
  }
  return undefined
}

function foundIn(items: readonly unknown[]): Found | undefined {
  const tensors = items.filter((item) => item instanceof Tensor)
  const boxes = tensors.find(({ shape, dtype }) => shape.length === 2 && shape[1] === 4 && isFloating(dtype))
  const rows = tensors.filter(({ shape }) => shape.length === 1 && shape[0] === boxes?.shape[0])
  const scores = rows.find(({ dtype }) => isFloating(dtype))
  const classes = rows.find(({ dtype }) => dtype === 'int64' || dtype === 'int32')
  return boxes === undefined || scores === undefined || classes === undefined ? undefined : { boxes, scores, classes }
}

function isFloating(dtype: string): boolean {
  return dtype.startsWith('float') || dtype === 'bfloat16'
}

export function detectionsOf({ boxes, scores, classes }: Found, labels: readonly string[]): readonly Detection[] {
  const corners = boxes.to('float64').toArray() as number[][]
  const chances = scores.to('float64').toArray() as number[]
  const kinds = classes.to('int32').toArray() as number[]
  return corners.map((box, i) => ({ index: kinds[i]!, label: labels[kinds[i]!] ?? `class ${kinds[i]!}`, score: chances[i]!, box }))
}

/** A line for each box. */
export function detectionsText(detections: readonly Detection[]): string {
  if (detections.length === 0) return 'nothing found'
  const rows = detections.map(({ label, score, box }) => [`${(100 * score).toFixed(1)} %`, label, ...box.map((side) => side.toFixed(1))])
  return table([['', '', 'left', 'top', 'right', 'bottom'], ...rows], [0, 2, 3, 4, 5])
}

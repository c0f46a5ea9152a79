import { callOperator, type Output, Tensor } from '../index.js'

/** How much of a picture is of a class. */
export interface Share {
  readonly index: number
  readonly label: string
  readonly share: number
}

/** The scores of a segmentation network, [pictures, classes, height, width]: the result itself, or what it has as 'out', as torchvision's do. */
export function pixelScoresIn(value: Output): Tensor | undefined {
  const scores = value instanceof Map ? value.get('out') : value
  return scores instanceof Tensor && scores.shape.length === 4 && scores.shape[1]! > 1 && scores.numel > 0 ? scores : undefined
}

/** Shares of pixels, of each picture: those of classes that there are, the largest one first. */
export function sharesOf(scores: Tensor, labels: readonly string[]): readonly (readonly Share[])[] {
  const [pictures, classes, height, width] = scores.shape
  const found = scores.argmax(1)
  return Array.from({ length: pictures! }, (_, i) => {
    const counts = callOperator<Tensor>('aten::bincount', [found.select(0, i).flatten(), null, classes!]).toArray() as number[]
    return counts
      .map((count, index) => ({
        index,
        label: labels[index] ?? `class ${index}`,
        share: count / (height! * width!),
      }))
      .filter(({ share }) => share > 0)
      .sort((a, b) => b.share - a.share)
  })
}

/** A line for each class. */
export function sharesText(shares: readonly (readonly Share[])[]): string {
  return shares
    .map((row) => row.map(({ label, share }) => `${(100 * share).toFixed(1).padStart(5)} % of the pixels  ${label}`).join('\n'))
    .join('\n\n')
}

import { tensorsIn } from '../../generation/results.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import type { Output } from '../../src/values/convert.js'

/** Where the decoder looked in a window as it said each token: rows of heads, by the place of the token that they were computed for. */
export class Attention {
  private readonly rows = new Map<number, Float32Array[]>()

  constructor(private readonly heads: readonly (readonly [layer: number, head: number])[] | null) {}

  clear(): void {
    this.rows.clear()
  }

  /** Takes what a call of the decoder gave for tokens from `start` on, and gives it back. */
  take(output: Output, start: number, count: number): void {
    const layers = tensorsIn([attentionIn(output)]).filter((t) => (t.dim === 4 && t.shape[0] === 1) || t.dim === 3)
    if (layers.length === 0) return
    for (let row = 0; row < count; row++) this.rows.set(start + row, [])
    for (const [layer, t] of layers.entries()) {
      const [heads, rows, frames] = t.shape.slice(-3) as [number, number, number]
      const data = (t.dtype === 'float32' ? t : t.to('float32')).data() as Float32Array
      for (let head = 0; head < heads; head++) {
        if (!this.isWanted(layer, head, layers.length)) continue
        for (let row = Math.max(0, rows - count); row < rows; row++) {
          const at = (head * rows + row) * frames
          this.rows.get(start + count - rows + row)?.push(data.slice(at, at + frames))
        }
      }
      t.dispose()
    }
  }

  /** Of each token from a place on: a row for each head. Null where the model gives none. */
  from(place: number, count: number): readonly (readonly Float32Array[])[] | null {
    const found = Array.from({ length: count }, (_, i) => this.rows.get(place + i))
    const [first] = found
    if (first === undefined || first.length === 0) return null
    const some = found.filter((rows) => rows !== undefined && rows.length === first.length) as Float32Array[][]
    return some.length < count - 1 ? null : some
  }

  /** One layer alone has been chosen when the model was exported; of several, without knowing which heads, those of the later half. */
  private isWanted(layer: number, head: number, layers: number): boolean {
    if (layers === 1) return true
    if (this.heads === null) return layer >= layers / 2
    return this.heads.some(([l, h]) => l === layer && h === head)
  }
}

/** By its name, or behind the logits. */
function attentionIn(output: Output): Output {
  if (output instanceof Map) return output.get('cross_attentions') ?? null
  return Array.isArray(output) && !(output[1] instanceof Tensor && output[1].dim !== 4) ? (output[1] ?? null) : null
}

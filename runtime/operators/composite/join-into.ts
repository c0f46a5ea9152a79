import { check } from '../../error.js'
import { MemoryFormat } from '../../tensor/options.js'
import { numelOf, wrapDim } from '../../tensor/shape.js'
import type { Tensor } from '../../tensor/tensor.js'
import { isContiguousAs } from '../../tensor/view-strides.js'
import { narrowed } from '../../tensor/view.js'
import { noteWrite } from '../../tensor/observe.js'
import { copyInto } from '../support/copy.js'
import { joinRows, type Joined } from '../support/join.js'

/** What concatenations share: shape, layout and elements of the result. */

/** Old models concatenate with an empty vector to start with: it is left out whatever the other shapes are. */
export function isPlaceholder(one: Tensor): boolean {
  return one.shape.length === 1 && one.shape[0] === 0
}

export function joinedShape(parts: readonly Tensor[], dim: number): number[] {
  const first = parts[0]!.shape
  const d = wrapDim(dim, first.length)
  const shape = first.slice()
  for (let i = 1; i < parts.length; i++) {
    const other = parts[i]!.shape
    check(
      other.length === first.length && other.every((size, k) => k === d || size === first[k]),
      () => `cat along dimension ${d} expects sizes that agree in the others, found [${first.join(', ')}] and [${other.join(', ')}]`,
    )
    shape[d] = shape[d]! + other[d]!
  }
  return shape
}

export function commonFormat(parts: readonly Tensor[]): number {
  const rank = parts[0]!.shape.length
  if (rank !== 4 && rank !== 5) return MemoryFormat.contiguous
  const format = rank === 4 ? MemoryFormat.channelsLast : MemoryFormat.channelsLast3d
  const all = parts.every((one) => !one.isContiguous && isContiguousAs(one.shape, one.strides, format))
  return all ? format : MemoryFormat.contiguous
}

/** Writes `parts` one after the other along `dim`: those laid out like the result by one kernel, others by copies. */
export function joinInto(out: Tensor, parts: readonly Tensor[], dim: number, format: number): void {
  if (out.numel === 0) return
  const plain = isContiguousAs(out.shape, out.strides, format)
  // sizes before and after `dim`, in memory order
  const inMemory = format === MemoryFormat.contiguous ? out.shape : [out.shape[0]!, ...out.shape.slice(2), out.shape[1]!]
  const at = format === MemoryFormat.contiguous || dim === 0 ? dim : dim === 1 ? out.shape.length - 1 : dim - 1
  const outer = numelOf(inMemory.slice(0, at))
  const inner = numelOf(inMemory.slice(at + 1))
  const joined: Joined[] = []
  let start = 0
  for (const one of parts) {
    const size = one.shape[dim]!
    if (plain && one.type === out.type && isContiguousAs(one.shape, one.strides, format))
      joined.push({ from: one, start: start * inner, length: size * inner })
    else copyInto(narrowed(out, dim, start, size), one)
    start += size
  }
  if (joined.length > 0) joinRows(out, outer, out.shape[dim]! * inner, joined)
  noteWrite(out)
}

import { Float } from '../../../runtime/tensor/scalar.js'
import type { GraphNode } from './graph.js'
import type { DelegateValues } from './values.js'

/** Keeps the floats on the stack in the range that a node says. */
export function clamp({ min, max }: GraphNode, { emitter }: DelegateValues): void {
  if (min === -Infinity && max === Infinity) return
  if (min === 0 && max === Infinity) return emitter.operator('aten::relu', 1)
  emitter.constant(min === -Infinity ? null : new Float(min))
  emitter.constant(max === Infinity ? null : new Float(max))
  emitter.operator(min !== -Infinity && max !== Infinity ? 'aten::hardtanh' : 'aten::clamp', 3)
}

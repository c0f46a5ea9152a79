import type { ScriptModule } from '../interpreter/script-module.js'
import { reachable } from '../program/reach.js'
import { PtliteError } from '../runtime/error.js'
import { WeightFormat } from '../runtime/native/generated/kernels.js'
import { DType } from '../runtime/tensor/dtype.js'
import type { Storage } from '../runtime/tensor/storage.js'
import type { LoadOptions } from './options.js'

/** Numbers that share a scale where nobody says how many; 0 is a whole row. */
const GROUPS = { int8: 0, int4: 32, bfloat16: 0, float16: 0 } as const

/**
 * Has linear layers, convolutions and embeddings round the matrices and filters of a module when they first read them. What else reads one has its floats. Throws
 * INVALID_ARGUMENT for settings that the format has not.
 */
export function roundWeights(
  script: ScriptModule,
  weights: NonNullable<LoadOptions['weights']>,
  { group, keep, activations }: Pick<LoadOptions, 'group' | 'keep' | 'activations'>,
): void {
  const isInteger = weights === 'int8' || weights === 'int4'
  if (!isInteger && (group !== undefined || activations === 'int8')) {
    const what = group === undefined ? "activations: 'int8'" : 'group'
    throw new PtliteError('INVALID_ARGUMENT', `loadModule(): ${what} goes with weights: 'int8' or 'int4', found '${weights}'`)
  }
  if (activations === 'bfloat16' && weights !== 'bfloat16')
    throw new PtliteError('INVALID_ARGUMENT', `loadModule(): activations: 'bfloat16' goes with weights: 'bfloat16', found '${weights}'`)
  const isNarrow = isInteger ? activations !== 'float' : activations === 'bfloat16'
  const rounding = { format: WeightFormat[weights], group: group ?? GROUPS[weights], bytes: isNarrow }
  // a tensor with several names has its first one
  const names = new Map([...script.parameters()].reverse().map(([name, tensor]) => [tensor, name]))
  const kept = new Set<Storage>()
  const matrices = [...reachable([script.root, ...script.functions.flatMap((f) => f.source.constants)])].filter(
    (t) => t.type === DType.float32 && t.dim >= 2 && t.dim <= 5,
  )
  for (const t of matrices) if (keep?.(names.get(t) ?? '', [...t.shape]) === true) kept.add(t.storage)
  for (const { storage } of matrices) if (!kept.has(storage)) storage.rounding = rounding
}

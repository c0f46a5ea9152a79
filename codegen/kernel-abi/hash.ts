import type { Selector } from '../options.js'
import type { FrameField, KernelAbi } from './model.js'

/**
 * Fingerprint (FNV-1a, 32 bits) of names, ids, layouts, enumerations, limits and statuses, and of what a selective build holds of them: both sides of the
 * ABI must have the same one.
 */
export function abiHash(abi: KernelAbi, selector?: Selector): number {
  const member = (f: FrameField): string => `${f.name}:${f.enumName ?? f.kind}[${f.length ?? ''}]@${f.offset}`
  const lines = [
    ...abi.numbers.map((n) => `${n.kind} ${n.name} ${n.value}`),
    ...abi.enums.map((e) => `enum ${e.name} ${e.values.join()}`),
    ...abi.kernels.map((k) => `kernel ${k.name} ${k.fields.map(member).join()} -> ${k.results.map(member).join()} ${k.size}`),
    ...(selector === undefined || selector.dtypes === null ? [] : [`dtypes ${[...selector.dtypes].sort((a, b) => a - b).join()}`]),
    ...abi.enums.flatMap((e) => {
      const values = selector?.values(e.name)
      return values === undefined || values === null ? [] : [`holds ${e.name} ${e.values.filter((v) => values.has(v)).join()}`]
    }),
  ]
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(lines.join('\n'))) hash = Math.imul(hash ^ byte, 0x01000193)
  return hash >>> 0
}

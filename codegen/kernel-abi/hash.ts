import type { FrameField, KernelAbi } from './model.js'

/** Fingerprint (FNV-1a, 32 bits) of names, ids, layouts and enumerations: both sides of the ABI must have the same one. */
export function abiHash(abi: KernelAbi): number {
  const member = (f: FrameField): string => `${f.name}:${f.enumName ?? f.kind}[${f.length ?? ''}]@${f.offset}`
  const lines = [
    ...abi.enums.map((e) => `enum ${e.name} ${e.values.join()}`),
    ...abi.kernels.map((k) => `kernel ${k.name} ${k.fields.map(member).join()} -> ${k.results.map(member).join()} ${k.size}`),
  ]
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(lines.join('\n'))) hash = Math.imul(hash ^ byte, 0x01000193)
  return hash >>> 0
}

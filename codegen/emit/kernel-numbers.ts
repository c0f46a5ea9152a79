import type { KernelAbi, KernelNumber } from '../kernel-abi/model.js'
import { banner, KERNEL_INPUTS } from './file.js'

/** runtime/native/generated/numbers.ts: the limits of kernels, and what they return. */
export function emitKernelNumbers({ numbers }: KernelAbi): string {
  const object = (name: string, kind: KernelNumber['kind']): string => {
    const rows = numbers.filter((n) => n.kind === kind).map((n) => `  /** ${n.doc} */\n  ${n.name}: ${n.value},\n`)
    return `export const ${name} = {\n${rows.join('')}} as const\n`
  }
  return `${banner('kernel-numbers.ts', KERNEL_INPUTS)}\n${object('Limit', 'limit')}\n${object('Status', 'status')}`
}

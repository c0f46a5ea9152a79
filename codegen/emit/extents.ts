import type { Kernel, KernelAbi } from '../kernel-abi/model.js'
import { abiHash } from '../kernel-abi/hash.js'
import { translate } from '../kernel-abi/expression.js'
import { banner, KERNEL_INPUTS } from './file.js'

/** runtime/native/generated/extents.ts: how many bytes each kernel reaches from its addresses, and how much it computes. */
export function emitExtents(abi: KernelAbi): string {
  const rows = abi.kernels.filter((k) => k.extents !== null).map((k) => row(k, abi))
  return `${banner('extents.ts', KERNEL_INPUTS)}import type { KernelExtents } from '../extents.js'

export const KERNEL_EXTENTS: Readonly<Record<string, KernelExtents>> = {
${rows.join('')}}
`
}

function row(kernel: Kernel, abi: KernelAbi): string {
  const values = (name: string): number => abi.enums.find((e) => e.name === name)!.values.length
  const hash = abiHash({ enums: abi.enums.filter((e) => kernel.fields.some((f) => f.enumName === e.name)), numbers: [], kernels: [kernel] })
  const code = (text: string): string => translate(text, kernel.fields)
  const function_ = (text: string): string => {
    const body = code(text)
    const parameters = /\beach\b/.test(body) ? '(f, each)' : /\bf\./.test(body) ? '(f)' : '()'
    return `${parameters} => ${body}`
  }
  const reach = [...kernel.extents!].map(([name, { bytes, optional }]) => `'${name}${optional ? '?' : ''}': ${function_(bytes)}`)
  const conditions = kernel.require.map((text) => `['${text}', ${function_(`(${text}) ? 1 : 0`)}]`)
  const enums = kernel.fields.flatMap((f) => (f.enumName === null ? [] : [`${f.name}: ${values(f.enumName)}`]))
  const parts = [`hash: ${hash}`, `reach: { ${reach.join(', ')} }`]
  if (enums.length > 0) parts.push(`enums: { ${enums.join(', ')} }`)
  if (conditions.length > 0) parts.push(`require: [${conditions.join(', ')}]`)
  if (kernel.flops !== null) parts.push(`flops: ${function_(kernel.flops)}`)
  return `  ${kernel.name}: { ${parts.join(', ')} },\n`
}

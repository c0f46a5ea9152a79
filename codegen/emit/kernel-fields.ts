import type { KernelAbi } from '../kernel-abi/model.js'
import { banner, KERNEL_INPUTS } from './file.js'
import { isDtypeField } from './selection-header.js'

/** runtime/native/generated/kernel-fields.ts: where frames say which dtypes and operations they ask for. */
export function emitKernelFields(abi: KernelAbi): string {
  const rows = abi.kernels.map((kernel) => {
    const fields = kernel.fields.flatMap((field) => {
      if (field.length !== null) return []
      if (field.enumName !== null) return [` ${field.offset / 4}:${field.enumName}`]
      return isDtypeField(field.name) ? [` ${field.offset / 4}`] : []
    })
    return `  '${kernel.name}${fields.join('')}',\n`
  })
  const inUse = new Set(abi.kernels.flatMap((kernel) => kernel.fields.map((field) => field.enumName)))
  const enums = abi.enums.filter((e) => inUse.has(e.name)).map((e) => `  ${e.name}: '${e.values.join(' ')}',\n`)
  return `${banner('kernel-fields.ts', KERNEL_INPUTS)}
/** Per kernel id its name and, as word or word:Enumeration, the fields that hold a dtype or a value of an enumeration. */
export const kernelFields: readonly string[] = [
${rows.join('')}]

/** The values of each enumeration, in order. */
export const enumValues: Readonly<Record<string, string>> = {
${enums.join('')}}
`
}

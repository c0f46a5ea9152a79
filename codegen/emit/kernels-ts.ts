import { abiHash } from '../kernel-abi/hash.js'
import type { FrameField, Kernel, KernelAbi, ScalarKind } from '../kernel-abi/model.js'
import type { Selector } from '../options.js'
import { banner, KERNEL_INPUTS, used } from './file.js'

const HELPERS = ['f32', 'f64', 'getI64', 'i32', 'launch', 'putDtype', 'putF32s', 'putF64s', 'putI32s', 'putI64', 'putI64s']
const ARRAY_WRITER: Record<ScalarKind, string> = { ptr: 'putI64s', i64: 'putI64s', i32: 'putI32s', f32: 'putF32s', f64: 'putF64s' }

/**
 * runtime/native/generated/kernels.ts: one function per kernel that fills the frame and launches it. Those that a selective build
 * leaves out (`absent`) throw.
 */
export function emitKernelsTs(abi: KernelAbi, absent: readonly Kernel[], selector: Selector): string {
  const { helpers, body } = kernelFunctions(abi)
  const imports = absent.length === 0 ? helpers : ['absentKernel', ...helpers]
  return `${banner('kernels-ts.ts', KERNEL_INPUTS)}import { ${imports.join(', ')} } from '../frame.js'

/** Fingerprint of the declarations; the library must have been built from the same ones. */
export const KERNEL_ABI_HASH = ${abiHash(abi, selector)}

${body}${absent.map(absentFunction).join('')}`
}

/** Has the type of the kernel's own function, so that its callers compile. */
function absentFunction(kernel: Kernel): string {
  const { parameters, returns } = signature(kernel)
  return `\nexport function ${kernel.name}(${parameters.map((p) => p.replace(/^args/, '_args').replace(/^host/, '_host')).join(', ')}): ${returns} {\n  return absentKernel('${kernel.name}')\n}\n`
}

/** The enumerations and functions of all kernels, and what they use of runtime/native/frame.ts. */
export function kernelFunctions(abi: KernelAbi): { readonly helpers: string[]; readonly body: string } {
  const enums = abi.enums.map((e) => `export const ${e.name} = { ${e.values.map((v, i) => `${v}: ${i}`).join(', ')} } as const\n`).join('')
  const functions = abi.kernels.map(kernelFunction).join('\n')
  const noFields = functions.includes('NoFields') ? 'type NoFields = Readonly<Record<string, never>>\n\n' : ''
  return { helpers: used(functions, HELPERS), body: `${noFields}${enums}\n${functions}` }
}

function kernelFunction(kernel: Kernel, id: number): string {
  const { parameters, returns } = signature(kernel)
  const writes = kernel.fields.map((f) => `  ${write(f)}\n`).join('')
  const call = `  launch(${id}, '${kernel.name}'${kernel.host ? ', host' : ''})\n`
  return `/** ${kernel.doc} */\nexport function ${kernel.name}(${parameters.join(', ')}): ${returns} {\n${writes}${call}${results(kernel)}}\n`
}

function signature(kernel: Kernel): { readonly parameters: string[]; readonly returns: string } {
  const parameters: string[] = []
  if (kernel.fields.length === 0) parameters.push(kernel.host ? '_args: NoFields' : '_args?: NoFields')
  else
    parameters.push(
      `args: {\n${kernel.fields.map((f) => `  ${f.name}: ${f.length === null ? 'number' : 'readonly number[]'}\n`).join('')}}`,
    )
  if (kernel.host) parameters.push('host: ArrayBufferView | null')
  const returns =
    kernel.results.length === 0
      ? 'void'
      : kernel.results.length === 1
        ? 'number'
        : `{ ${kernel.results.map((r) => `${r.name}: number`).join(', ')} }`
  return { parameters, returns }
}

function write(field: FrameField): string {
  const value = `args.${field.name}`
  const word = field.offset / 4
  if (field.length !== null) return `${ARRAY_WRITER[field.kind]}(${word}, ${value}, ${field.length})`
  if (field.kind === 'i32') return field.name.endsWith('dtype') ? `putDtype(${word}, ${value})` : `i32[${word}] = ${value}`
  if (field.kind === 'f32') return `f32[${word}] = ${value}`
  if (field.kind === 'f64') return `f64[${word / 2}] = ${value}`
  return `putI64(${word}, ${value})`
}

function results(kernel: Kernel): string {
  if (kernel.results.length === 0) return ''
  if (kernel.results.length === 1) return `  return ${read(kernel.results[0]!)}\n`
  return `  return { ${kernel.results.map((r) => `${r.name}: ${read(r)}`).join(', ')} }\n`
}

function read(field: FrameField): string {
  const word = field.offset / 4
  if (field.kind === 'i32') return `i32[${word}]!`
  if (field.kind === 'f32') return `f32[${word}]!`
  if (field.kind === 'f64') return `f64[${word / 2}]!`
  return `getI64(${word})`
}

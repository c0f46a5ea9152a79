import { basename } from 'node:path'
import { abiHash } from '../kernel-abi/hash.js'
import type { FrameField, Kernel, KernelAbi, ScalarKind } from '../kernel-abi/model.js'
import type { BuildOptions, Selector } from '../options.js'
import { banner, KERNEL_INPUTS, used } from './file.js'

const HELPERS = ['f32', 'f64', 'getI64', 'i32', 'launch', 'putDtype', 'putF32s', 'putF64s', 'putI32s', 'putI64', 'putI64s']
const ARRAY_WRITER: Record<ScalarKind, string> = { ptr: 'putI64s', i64: 'putI64s', i32: 'putI32s', f32: 'putF32s', f64: 'putF64s' }

const KERNELS = 'runtime/native/generated/kernels'

/**
 * runtime/native/generated/kernels.ts: one function per kernel that fills the frame and launches it. Those that a selective build
 * leaves out (`absent`) throw. Where options ask for pieces, the functions of each file of declarations are in a file of their own behind it.
 */
export function kernelFiles(abi: KernelAbi, absent: readonly Kernel[], { common, selector }: BuildOptions): [string, string][] {
  if (common === undefined) return [[`${KERNELS}.ts`, emitKernelsTs(abi, absent, selector)]]
  const byFile = new Map<string, [number, Kernel][]>()
  for (const [id, kernel] of abi.kernels.entries()) {
    const name = basename(kernel.source.file, '.yaml')
    byFile.set(name, [...(byFile.get(name) ?? []), [id, kernel]])
  }
  const pieces = [...byFile].map(([name, kernels]): [string, string] => {
    const functions = functionsOf(kernels)
    return [
      `${KERNELS}/${name}.ts`,
      `${banner('kernels-ts.ts', KERNEL_INPUTS)}${importOf(used(functions, HELPERS), '../../frame.js')}\n${noFields(functions)}${functions}`,
    ]
  })
  const all = [...byFile.keys()].map((name) => `export * from './kernels/${name}.js'\n`).join('')
  return [[`${KERNELS}.ts`, `${banner('kernels-ts.ts', KERNEL_INPUTS)}${all}${hashOf(abi, selector)}${enumerations(abi)}`], ...pieces]
}

export function emitKernelsTs(abi: KernelAbi, absent: readonly Kernel[], selector: Selector): string {
  const { helpers, body } = kernelFunctions(abi)
  const imports = importOf(absent.length === 0 ? helpers : ['absentKernel', ...helpers], '../frame.js')
  return `${banner('kernels-ts.ts', KERNEL_INPUTS)}${imports}${hashOf(abi, selector)}${body}${absent.map(absentFunction).join('')}`
}

function hashOf(abi: KernelAbi, selector: Selector): string {
  const hash = abiHash(abi, selector)
  return `\n/** Fingerprint of the declarations; the library must have been built from the same ones. */\nexport const KERNEL_ABI_HASH = ${hash}\n\n`
}

const importOf = (names: readonly string[], from: string): string => `import { ${names.join(', ')} } from '${from}'\n`

/** Has the type of the kernel's own function, so that its callers compile. */
function absentFunction(kernel: Kernel): string {
  const { parameters, returns } = signature(kernel)
  return `\nexport function ${kernel.name}(${parameters.map((p) => p.replace(/^args/, '_args').replace(/^host/, '_host')).join(', ')}): ${returns} {\n  return absentKernel('${kernel.name}')\n}\n`
}

/** The enumerations and functions of all kernels, and what they use of runtime/native/frame.ts. */
export function kernelFunctions(abi: KernelAbi): { readonly helpers: string[]; readonly body: string } {
  const functions = functionsOf([...abi.kernels.entries()])
  return { helpers: used(functions, HELPERS), body: `${noFields(functions)}${enumerations(abi)}\n${functions}` }
}

function enumerations({ enums }: KernelAbi): string {
  return enums.map((e) => `export const ${e.name} = { ${e.values.map((v, i) => `${v}: ${i}`).join(', ')} } as const\n`).join('')
}

/** Of kernels with their ids. */
function functionsOf(kernels: readonly [number, Kernel][]): string {
  return kernels.map(([id, kernel]) => kernelFunction(kernel, id)).join('\n')
}

function noFields(functions: string): string {
  return functions.includes('NoFields') ? 'type NoFields = Readonly<Record<string, never>>\n\n' : ''
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

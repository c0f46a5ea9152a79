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
    const base = abi.kernels.find(({ name }) => name === kernel.variant?.of) ?? kernel
    const name = basename(base.source.file, '.yaml')
    byFile.set(name, [...(byFile.get(name) ?? []), [id, kernel]])
  }
  const pieces = [...byFile].map(([name, kernels]): [string, string] => {
    const functions = functionsOf(kernels, [])
    return [
      `${KERNELS}/${name}.ts`,
      `${banner('kernels-ts.ts', KERNEL_INPUTS)}${importOf(used(functions, HELPERS), '../../frame.js')}\n${noFields(functions)}${functions}`,
    ]
  })
  const all = [...byFile.keys()].map((name) => `export * from './kernels/${name}.js'\n`).join('')
  return [[`${KERNELS}.ts`, `${banner('kernels-ts.ts', KERNEL_INPUTS)}${all}${hashOf(abi, selector)}${enumerations(abi)}`], ...pieces]
}

export function emitKernelsTs(abi: KernelAbi, absent: readonly Kernel[], selector: Selector): string {
  const { helpers, body } = kernelFunctions(abi, absent)
  const imports = importOf(absent.length === 0 ? helpers : ['absentKernel', ...helpers], '../frame.js')
  return `${banner('kernels-ts.ts', KERNEL_INPUTS)}${imports}${hashOf(abi, selector)}${body}`
}

function hashOf(abi: KernelAbi, selector: Selector): string {
  const hash = abiHash(abi, selector)
  return `\n/** Fingerprint of the declarations; the library must have been built from the same ones. */\nexport const KERNEL_ABI_HASH = ${hash}\n\n`
}

const importOf = (names: readonly string[], from: string): string => `import { ${names.join(', ')} } from '${from}'\n`

/** The enumerations and functions of all kernels, and what they use of runtime/native/frame.ts. */
export function kernelFunctions(abi: KernelAbi, absent: readonly Kernel[] = []): { readonly helpers: string[]; readonly body: string } {
  const functions = functionsOf([...abi.kernels.entries()], absent)
  return { helpers: used(functions, HELPERS), body: `${noFields(functions)}${enumerations(abi)}\n${functions}` }
}

function enumerations({ enums }: KernelAbi): string {
  return enums.map((e) => `export const ${e.name} = { ${e.values.map((v, i) => `${v}: ${i}`).join(', ')} } as const\n`).join('')
}

/** A kernel and what it is with mixins, which one function starts. Without an id it is absent. */
interface Family {
  readonly base: Kernel
  readonly id: number | undefined
  readonly variants: readonly { readonly kernel: Kernel; readonly id: number | undefined }[]
}

/** Of kernels with their ids, and of those that are absent. */
function functionsOf(present: readonly [number, Kernel][], absent: readonly Kernel[]): string {
  const all = [...present.map(([id, kernel]) => ({ kernel, id })), ...absent.map((kernel) => ({ kernel, id: undefined }))]
  return all
    .filter(({ kernel }) => kernel.variant === null)
    .map(({ kernel, id }) => kernelFunction({ base: kernel, id, variants: all.filter((v) => v.kernel.variant?.of === kernel.name) }))
    .join('\n')
}

function noFields(functions: string): string {
  return functions.includes('NoFields') ? 'type NoFields = Readonly<Record<string, never>>\n\n' : ''
}

function kernelFunction({ base, id, variants }: Family): string {
  const { parameters, returns } = signature(base)
  const ways = [...variants, { kernel: base, id }]
  const all = [...parameters, ...variants.map((way) => variantParameter(way, base))]
  // an absent one has the type of the kernel's own function, so that its callers compile
  if (ways.every((way) => way.id === undefined)) {
    const unused = all.map((p) => p.replace(/^(?=[a-z])/, '_'))
    return `export function ${base.name}(${unused.join(', ')}): ${returns} {\n  return absentKernel('${base.name}')\n}\n`
  }
  const host = base.host ? ', host' : ''
  const start = ({ kernel, id: number }: Family['variants'][number]): string =>
    number === undefined ? `absentKernel('${kernel.name}')` : `launch(${number}, '${kernel.name}'${host})`
  const others = variants.map((way) => {
    const { suffix } = way.kernel.variant!
    const own = ownFields(way.kernel, base).map((f) => `    ${write(f, suffix)}\n`)
    return `  if (${suffix} !== null) {\n${own.join('')}    ${start(way)}\n    return\n  }\n`
  })
  const writes = base.fields.map((f) => `  ${write(f, 'args')}\n`).join('')
  const doc = [base.doc, ...variants.map(({ kernel }) => kernel.doc)].join(' ')
  return `/** ${doc} */\nexport function ${base.name}(${all.join(', ')}): ${returns} {\n${writes}${others.join('')}  ${start({ kernel: base, id })}\n${results(base)}}\n`
}

/** Fields of a variant behind those of the kernel that it is one of. */
function ownFields(kernel: Kernel, base: Kernel): readonly FrameField[] {
  return kernel.fields.slice(base.fields.length)
}

function variantParameter({ kernel }: Family['variants'][number], base: Kernel): string {
  return `${kernel.variant!.suffix}: ${fieldsType(ownFields(kernel, base))} | null = null`
}

function fieldsType(fields: readonly FrameField[]): string {
  return `{\n${fields.map((f) => `  ${f.name}: ${f.length === null ? 'number' : 'readonly number[]'}\n`).join('')}}`
}

function signature(kernel: Kernel): { readonly parameters: string[]; readonly returns: string } {
  const parameters: string[] = []
  if (kernel.fields.length === 0) parameters.push(kernel.host ? '_args: NoFields' : '_args?: NoFields')
  else parameters.push(`args: ${fieldsType(kernel.fields)}`)
  if (kernel.host) parameters.push('host: ArrayBufferView | null')
  const returns =
    kernel.results.length === 0
      ? 'void'
      : kernel.results.length === 1
        ? 'number'
        : `{ ${kernel.results.map((r) => `${r.name}: number`).join(', ')} }`
  return { parameters, returns }
}

function write(field: FrameField, from: string): string {
  const value = `${from}.${field.name}`
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

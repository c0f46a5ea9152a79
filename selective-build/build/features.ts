import type { Operator } from '../../codegen/model/operator.js'
import { printType } from '../../codegen/schema/printer.js'
import { PLAIN } from '../../program/generated/plain-opcodes.js'
import { isOfStructures } from '../../program/unknown-instruction.js'
import { hasChanged } from '../../program/upgraders.js'
import type * as features from '../../runtime/features.js'
import { DType } from '../../runtime/tensor/dtype.js'
import { loadersOf, type Selection } from '../selection/selection.js'

/** What of the library a build can be without, by the names of runtime/features.ts. */
type Features = Readonly<Record<keyof typeof features, boolean>>

/** What reads rounded weights. */
const ROUNDING = ['packed_linear', 'packed_linear_post', 'packed_conv', 'packed_conv_post', 'weight_rows'] as const

/** What a selection needs of the library. */
export function featuresOf(selection: Selection, declared: readonly Operator[]): Features {
  const { parts, loaders, backends, kernels, dtypes, operators, uncalled, instructions } = selection
  const compiler = parts.has('compiler')
  const reads = (name: string): boolean => loaders.has(name)
  return {
    complex: parts.has('complex'),
    half: parts.has('halves') || dtypes === null || dtypes.has(DType.float16) || dtypes.has(DType.bfloat16),
    limited: dtypes === null || [...dtypes].some((dtype) => dtype >= DType.float8_e5m2),
    quantized: backends.has('QuantizedCPU'),
    rounding: kernels === null || ROUNDING.some((name) => kernels.has(name)),
    sparse: parts.has('sparse'),
    promotion: parts.has('scalars') || dtypes === null || dtypes.size > 1,
    scalars: parts.has('scalars'),
    writes: parts.has('writes'),
    defaults: parts.has('defaults'),
    containers: compiler || holdsContainers(selection, declared),
    structures: compiler || instructions === null || [...instructions].some(isOfStructures),
    coercion: parts.has('arguments'),
    // plans need neither a program nor what it calls
    interpreter: loadersOf('program').some(reads),
    compiler,
    background: false,
    threads: false,
    customOperators: false,
    ptl: reads('ptl'),
    ff: reads('ff'),
    torchscript: reads('torchscript'),
    pt2: reads('pt2'),
    pte: reads('pte'),
    ptlc: reads('ptlc'),
    executorchNumbers: reads('pte') && parts.has('executorch-numbers'),
    executorchOperators: reads('pte') && parts.has('executorch-operators'),
    xnnpack: reads('pte') && parts.has('xnnpack'),
    testCases: reads('pte') && parts.has('test-cases'),
    dataFiles: reads('pte') && parts.has('data-files'),
    // apps only load models
    writers: false,
    sources: false,
    inspection: false,
    debug: parts.has('debug-info'),
    upgraders: parts.has('upgraders') && [...operators, ...uncalled].some(hasChanged),
    argumentCounts: parts.has('argument-counts'),
    // apps are written against the whole library, which says more
    advice: false,
  }
}

/** In the place of runtime/features.ts. */
export function featuresModule(held: Features): string {
  return Object.entries(held)
    .map(([name, isHeld]) => `export const ${name} = ${isHeld}\n`)
    .join('')
}

/** Types of results that are no container and in none. */
const SINGLE: ReadonlySet<string> = new Set(['Tensor', 'int', 'float', 'bool', 'Scalar', 'str', 'SymInt'])

/** Whether a program can come by a value that holds others, besides the module. */
function holdsContainers({ operators, instructions, parts }: Selection, declared: readonly Operator[]): boolean {
  if (instructions === null || parts.has('arguments') || ![...instructions].every((name) => PLAIN.has(name))) return true
  const called = declared.filter(({ qualifiedName }) => operators.has(qualifiedName))
  return called.some(({ schema }) => schema.isVarret || schema.returns.some(({ type }) => !SINGLE.has(printType(type, false))))
}

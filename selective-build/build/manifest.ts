import type { Operator } from '../../codegen/model/operator.js'
import { printType } from '../../codegen/schema/printer.js'
import { formats, writableFormats } from '../../formats/registry.js'
import { PLAIN } from '../../program/generated/plain-opcodes.js'
import type * as held from '../../runtime/held.js'
import { DType } from '../../runtime/tensor/dtype.js'
import { UPGRADED } from '../absent/upgraders.js'
import { loadersOf, type Selection } from '../selection/selection.js'

/**
 * What a build holds of the runtime: features switch files, whose stand-ins are in selective-build/absent. A file has its stand-in where the
 * build has none of the features of its row.
 */
const MANIFEST: readonly { readonly features: readonly string[]; readonly file: string; readonly absent: string }[] = [
  ...formats().map(({ name }) => ({
    features: [`loader:${name}`],
    file: `formats/${name}/read.ts`,
    absent: 'reader',
  })),
  // apps only load models
  ...writableFormats().map(({ name }) => ({ features: [], file: `formats/${name}/write.ts`, absent: 'writer' })),
  { features: [], file: 'runtime/native/platform-package.ts', absent: 'platform-package' },
  { features: [], file: 'formats/containers/map-file.ts', absent: 'map-file' },
  { features: [], file: 'formats/containers/zip/crc32.ts', absent: 'crc32' },
  { features: [], file: 'src/at-hand.ts', absent: 'at-hand' },
  { features: [], file: 'src/need-kernels.ts', absent: 'need-kernels' },
  // apps are written against the whole library, which says more
  { features: ['advice'], file: 'runtime/tensor/unknown-option.ts', absent: 'unknown-option' },
  { features: ['advice'], file: 'formats/recognize.ts', absent: 'recognize' },
  { features: ['debug-info'], file: 'formats/ptl/debug.ts', absent: 'debug' },
  { features: ['upgraders'], file: 'program/upgraders.ts', absent: 'upgraders' },
  // the later row counts
  { features: ['upgraders', 'changed-operators'], file: 'program/upgraders.ts', absent: 'no-upgraders' },
  { features: ['argument-counts'], file: 'program/argument-counts.ts', absent: 'argument-counts' },
  { features: ['complex'], file: 'runtime/tensor/complex.ts', absent: 'complex' },
  { features: ['complex'], file: 'runtime/tensor/complex-pairs.ts', absent: 'complex' },
  { features: ['complex'], file: 'runtime/tensor/complex-number.ts', absent: 'complex-number' },
  { features: ['complex'], file: 'src/selected-complex.ts', absent: 'selected-complex' },
  { features: ['quantized'], file: 'formats/reading/quantization.ts', absent: 'quantization' },
  { features: ['interpreter'], file: 'engine/open-program.ts', absent: 'open-program' },
  { features: ['interpreter'], file: 'engine/replaced.ts', absent: 'replaced' },
  { features: ['loader:ptlc'], file: 'engine/load-plans.ts', absent: 'load-plans' },
  { features: ['background'], file: 'engine/background/interpret.ts', absent: 'background' },
  { features: ['compiler'], file: 'engine/program-engine.ts', absent: 'program-engine' },
  { features: ['compiler', 'loader:ptlc'], file: 'src/call-options.ts', absent: 'call-options' },
  { features: ['quantized'], file: 'runtime/tensor/quant.ts', absent: 'quant' },
  { features: ['quantized'], file: 'compiler/passes/integers/rewriter.ts', absent: 'on-integers' },
  { features: ['custom-operators'], file: 'runtime/operators/added.ts', absent: 'added' },
  { features: ['custom-operators'], file: 'runtime/operators/similar.ts', absent: 'similar' },
  { features: ['all-instructions'], file: 'program/unknown-instruction.ts', absent: 'unknown-instruction' },
  { features: ['all-instructions'], file: 'program/verify-paths.ts', absent: 'verify-paths' },
  { features: ['defaults'], file: 'engine/interpreter/insert-defaults.ts', absent: 'insert-defaults' },
  { features: ['scalars'], file: 'runtime/backends/cpu/support/number-fields.ts', absent: 'number-fields' },
  { features: ['scalars'], file: 'runtime/backends/cpu/support/scaled-sum.ts', absent: 'scaled-sum' },
  { features: ['arguments'], file: 'src/coerce.ts', absent: 'coerce' },
]

/** The files that a build is without, with those that stand in for them, relative to the project. */
export function standInsFor(features: ReadonlySet<string>): Map<string, string> {
  const rows = MANIFEST.filter((row) => !row.features.some((feature) => features.has(feature)))
  return new Map(rows.map(({ file, absent }) => [file, `selective-build/absent/${absent}.ts`]))
}

/** What of the runtime a selection needs, by the names of the manifest. */
export function featuresOf(selection: Selection, declared: readonly Operator[]): Set<string> {
  const { parts, loaders, backends, operators, uncalled, instructions } = selection
  const features = new Set<string>([...parts, ...[...loaders].map((name) => `loader:${name}`)])
  const add = (feature: string, isHeld: boolean): unknown => isHeld && features.add(feature)
  add('quantized', backends.has('QuantizedCPU'))
  // plans need neither a program nor what it calls
  add(
    'interpreter',
    loadersOf('program').some((name) => loaders.has(name)),
  )
  add(
    'changed-operators',
    [...operators, ...uncalled].some((name) => UPGRADED.test(name)),
  )
  add('all-instructions', instructions === null)
  add('containers', parts.has('compiler') || holdsContainers(selection, declared))
  return features
}

/** Types of results that are no container and in none. */
const SINGLE: ReadonlySet<string> = new Set(['Tensor', 'int', 'float', 'bool', 'Scalar', 'str', 'SymInt'])

export type HeldFlag = keyof typeof held

/** Whether each part of runtime/held.ts is in a build. */
export function heldFlags({ dtypes, parts }: Selection, features: ReadonlySet<string>): Record<HeldFlag, boolean> {
  return {
    HOLDS_COMPLEX: parts.has('complex'),
    HOLDS_OBSERVERS: parts.has('compiler'),
    HOLDS_WRITES: parts.has('writes'),
    HOLDS_CONTAINERS: features.has('containers'),
    HOLDS_MIXED_DTYPES: parts.has('scalars') || dtypes === null || dtypes.size > 1,
    HOLDS_HALVES: parts.has('halves') || dtypes === null || dtypes.has(DType.float16) || dtypes.has(DType.bfloat16),
    // a build has those that were asked for, and says of others that they are missing when a file is read
    HOLDS_ALL_OPERATORS: false,
  }
}

/** Whether a program can come by a value that holds others, besides the module. */
function holdsContainers({ operators, instructions, parts }: Selection, declared: readonly Operator[]): boolean {
  if (instructions === null || parts.has('arguments') || ![...instructions].every((name) => PLAIN.has(name))) return true
  const called = declared.filter(({ qualifiedName }) => operators.has(qualifiedName))
  return called.some(({ schema }) => schema.isVarret || schema.returns.some(({ type }) => !SINGLE.has(printType(type, false))))
}

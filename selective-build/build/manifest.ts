import type { Operator } from '../../codegen/model/operator.js'
import { printType } from '../../codegen/schema/printer.js'
import { formats, writableFormats } from '../../formats/registry.js'
import { PLAIN } from '../../program/generated/plain-opcodes.js'
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
  { features: [], file: 'runtime/native/library-file.ts', absent: 'library-file' },
  { features: [], file: 'runtime/native/unpacked.ts', absent: 'unpacked' },
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
  { features: ['complex'], file: 'runtime/tensor/complex-tensor.ts', absent: 'complex-tensor' },
  { features: ['complex'], file: 'runtime/tensor/complex-promote.ts', absent: 'complex-promote' },
  { features: ['complex'], file: 'runtime/tensor/complex-item.ts', absent: 'complex-item' },
  { features: ['complex'], file: 'runtime/operators/cpu/complex-arithmetic.ts', absent: 'complex' },
  { features: ['complex'], file: 'runtime/operators/cpu/complex-functions.ts', absent: 'complex' },
  { features: ['complex'], file: 'runtime/operators/support/complex-product.ts', absent: 'complex' },
  { features: ['halves'], file: 'runtime/tensor/half-value.ts', absent: 'half-value' },
  { features: ['halves'], file: 'runtime/operators/support/bfloat16-product.ts', absent: 'bfloat16' },
  { features: ['halves'], file: 'runtime/operators/cpu/support/bfloat16-conv.ts', absent: 'bfloat16' },
  { features: ['writes'], file: 'runtime/tensor/prepared-out.ts', absent: 'writes' },
  { features: ['writes'], file: 'runtime/operators/support/copy-out.ts', absent: 'writes' },
  { features: ['writes'], file: 'runtime/operators/cpu/support/given-out.ts', absent: 'writes' },
  { features: ['compiler'], file: 'runtime/used.ts', absent: 'observers' },
  { features: ['compiler'], file: 'runtime/native/launch-observer.ts', absent: 'observers' },
  { features: ['compiler'], file: 'runtime/tensor/storage-observer.ts', absent: 'observers' },
  { features: ['compiler'], file: 'runtime/tensor/observe.ts', absent: 'observers' },
  { features: ['compiler'], file: 'runtime/operators/called.ts', absent: 'observers' },
  { features: ['compiler'], file: 'interpreter/module-observer.ts', absent: 'observers' },
  { features: ['compiler'], file: 'interpreter/watchers.ts', absent: 'observers' },
  { features: ['compiler'], file: 'interpreter/recorder.ts', absent: 'observers' },
  { features: ['compiler'], file: 'runtime/native/held-blocks.ts', absent: 'unheld-memory' },
  { features: ['compiler'], file: 'runtime/native/guarded.ts', absent: 'unheld-memory' },
  { features: ['compiler'], file: 'runtime/native/guard.ts', absent: 'unheld-memory' },
  { features: ['compiler'], file: 'runtime/tensor/uncloneable.ts', absent: 'unheld-memory' },
  { features: ['containers'], file: 'interpreter/lifetime.ts', absent: 'containers' },
  { features: ['containers'], file: 'interpreter/container-lifetimes.ts', absent: 'containers' },
  { features: ['containers'], file: 'interpreter/finish-run.ts', absent: 'containers' },
  { features: ['containers'], file: 'src/values/convert-containers.ts', absent: 'containers' },
  { features: ['containers'], file: 'src/values/container.ts', absent: 'containers' },
  { features: ['containers'], file: 'program/argument-use.ts', absent: 'containers' },
  { features: ['mixed-dtypes'], file: 'runtime/tensor/promote-types.ts', absent: 'promote-types' },
  { features: ['mixed-dtypes'], file: 'runtime/tensor/promote-pair.ts', absent: 'promote-pair' },
  { features: ['mixed-dtypes'], file: 'runtime/operators/support/converted.ts', absent: 'converted' },
  { features: ['quantized'], file: 'formats/reading/quantization.ts', absent: 'quantization' },
  { features: ['interpreter'], file: 'engine/open-program.ts', absent: 'open-program' },
  { features: ['interpreter'], file: 'engine/replaced.ts', absent: 'replaced' },
  { features: ['loader:ptlc'], file: 'engine/load-plans.ts', absent: 'load-plans' },
  { features: ['background'], file: 'engine/background/interpret.ts', absent: 'background' },
  { features: ['compiler'], file: 'engine/program-engine.ts', absent: 'program-engine' },
  { features: ['compiler', 'loader:ptlc'], file: 'src/call-options.ts', absent: 'call-options' },
  { features: ['compiler', 'loader:ptlc'], file: 'src/signal.ts', absent: 'signal' },
  { features: ['compiler'], file: 'src/graph-options.ts', absent: 'graph-options' },
  { features: ['compiler'], file: 'runtime/native/wasm/code-table.ts', absent: 'code-table' },
  { features: [], file: 'runtime/native/wasm/threads/loading.ts', absent: 'threads-loading' },
  { features: [], file: 'runtime/native/wasm/threads/memory.ts', absent: 'kernel-memory' },
  { features: ['quantized'], file: 'runtime/tensor/quant.ts', absent: 'quant' },
  { features: ['quantized'], file: 'compiler/passes/integers/rewriter.ts', absent: 'on-integers' },
  { features: ['custom-operators'], file: 'runtime/operators/table/added.ts', absent: 'added' },
  { features: ['custom-operators'], file: 'runtime/operators/table/similar.ts', absent: 'similar' },
  { features: ['all-instructions'], file: 'program/unknown-instruction.ts', absent: 'unknown-instruction' },
  { features: ['all-instructions'], file: 'program/verify-paths.ts', absent: 'verify-paths' },
  { features: ['defaults'], file: 'interpreter/insert-defaults.ts', absent: 'insert-defaults' },
  { features: ['scalars'], file: 'runtime/operators/cpu/support/number-fields.ts', absent: 'number-fields' },
  { features: ['scalars'], file: 'runtime/operators/cpu/support/scaled-sum.ts', absent: 'scaled-sum' },
  { features: ['arguments'], file: 'src/values/coerce.ts', absent: 'coerce' },
]

/** The files that a build is without, with those that stand in for them, relative to the project. */
export function standInsFor(features: ReadonlySet<string>): Map<string, string> {
  const rows = MANIFEST.filter((row) => !row.features.some((feature) => features.has(feature)))
  return new Map(rows.map(({ file, absent }) => [file, `selective-build/absent/${absent}.ts`]))
}

/** What of the runtime a selection needs, by the names of the manifest. */
export function featuresOf(selection: Selection, declared: readonly Operator[]): Set<string> {
  const { parts, loaders, backends, dtypes, operators, uncalled, instructions } = selection
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
  add('mixed-dtypes', parts.has('scalars') || dtypes === null || dtypes.size > 1)
  add('halves', dtypes === null || dtypes.has(DType.float16) || dtypes.has(DType.bfloat16))
  add('containers', parts.has('compiler') || holdsContainers(selection, declared))
  return features
}

/** Types of results that are no container and in none. */
const SINGLE: ReadonlySet<string> = new Set(['Tensor', 'int', 'float', 'bool', 'Scalar', 'str', 'SymInt'])

/** Whether a program can come by a value that holds others, besides the module. */
function holdsContainers({ operators, instructions, parts }: Selection, declared: readonly Operator[]): boolean {
  if (instructions === null || parts.has('arguments') || ![...instructions].every((name) => PLAIN.has(name))) return true
  const called = declared.filter(({ qualifiedName }) => operators.has(qualifiedName))
  return called.some(({ schema }) => schema.isVarret || schema.returns.some(({ type }) => !SINGLE.has(printType(type, false))))
}

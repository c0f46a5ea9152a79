import { existsSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { functionsIn, NAMED, REACH } from '../parts/generated.js'
import { partOf, type Written } from '../parts/lazy-parts.js'
import { sourceOf } from '../parts/modules.js'
import { FIRST, PARTS } from '../parts/parts.js'
import { packNumbers } from '../../codegen/emit/packed.js'
import { COMPILED_CALLS, FIRST_KERNELS } from './kernels/first-kernels.js'
import { kernelNames } from './kernels/names.js'
import { type Place, Reach } from './reach.js'
import { MORE_KERNELS } from '../../runtime/native/wasm/more-kernels.js'

export const LOADERS_FILE = 'web/parts/loaders.ts'
export const REACH_FILE = REACH

/* What is needed together is one part here: a file of its own costs a browser milliseconds. */

/** What models need, whatever their operators. */
const MODEL = 'model'
/** Families of operators that methods of tensors call, or that almost every network has: dropout comes to those of random numbers. */
const USUAL = 'usual'
const WITHIN: Readonly<Record<string, string>> = {
  ...{ operators: MODEL, files: MODEL, views: MODEL, 'tensor-operations': MODEL },
  ...{
    layers: USUAL,
    transformers: USUAL,
    joins: USUAL,
    shapes: USUAL,
    reductions: USUAL,
    indexing: USUAL,
    pointwise: USUAL,
    random: USUAL,
  },
  'operators-rare': USUAL,
  ...{ sources: FIRST, containers: FIRST, guard: FIRST, 'runtime-rare': FIRST },
  ...{
    recording: 'compiler',
    plans: 'compiler',
    'plans-rare': 'compiler',
    regions: 'compiler',
    'compiler-rare': 'compiler',
    'integers-rare': 'compiler',
  },
}
export const within = (part: string): string => WITHIN[part] ?? part

/** Where the functions are that run kernels. */
const WRITERS = 'runtime/native/generated/kernels/'

/** Files that stand elsewhere than in Node. */
const PLACED: Readonly<Record<string, string>> = {
  // what stack traces of models are made of
  'program/raise.ts': MODEL,
  'formats/ptl/source-range.ts': MODEL,
  // instances, quantized weights, and what became of calls
  ...{ 'program/signature-info.ts': MODEL, 'program/type-match.ts': MODEL, 'formats/reading/quantization.ts': MODEL },
  ...{ 'compiler/plan-info.ts': MODEL, 'compiler/record/signature-text.ts': MODEL },
  // what scripted models write into texts of errors
  ...Object.fromEntries(
    ['code-point', 'number-text', 'tensor-text'].map((name) => [`runtime/operators/builtin/support/${name}.ts`, 'texts']),
  ),
  // branches of usual operators for other types, and for training
  ...{ 'runtime/operators/cpu/complex-arithmetic.ts': 'pointwise', 'runtime/operators/cpu/support/scaled-sum.ts': 'pointwise' },
  ...{ 'runtime/operators/cpu/complex-functions.ts': 'pointwise', 'runtime/native/generated/kernels/complex.ts': 'pointwise' },
  // traced convolutions
  'runtime/operators/cpu/convolution-forms.ts': 'layers',
  ...{ 'runtime/operators/cpu/batch-statistics.ts': 'layers', 'runtime/native/generated/kernels/bfloat16.ts': 'layers' },
  ...Object.fromEntries(
    ['bfloat16-conv', 'bfloat16-product', 'complex-product'].flatMap((name) =>
      ['runtime/operators/support', 'runtime/operators/cpu/support'].map((folder) => [`${folder}/${name}.ts`, 'layers']),
    ),
  ),
  ...Object.fromEntries(['complex'].map((name) => [`runtime/tensor/${name}.ts`, MODEL])),
  // a method of tensors is in it
  'runtime/operators/cpu/masked-select.ts': 'indexing',
  ...{ 'web/parts/operators-ready.ts': MODEL, 'web/stand-ins/received-source.ts': MODEL, 'web/cache/compiled.ts': MODEL },
  // WebAssembly that plans have made
  ...Object.fromEntries(
    readdirSync('runtime/native/wasm/emit')
      .filter((name) => name !== 'names.ts')
      .map((name) => [`runtime/native/wasm/emit/${name}`, 'compiler']),
  ),
}

/** The part of a source file. */
export function placedIn(file: string): string {
  return within(PLACED[file] ?? partOf(file))
}

/** Functions of the library that are there when a model is, or that load what they need. */
const LOADING: ReadonlySet<string> = new Set([
  'loadModule',
  'inspectModel',
  'ready',
  'callOperator',
  'operators',
  'suggestInputs',
  'Module',
  'custom',
])

/** What methods of tensors call, by the names that src/tensor-operations.ts has in texts. */
const TENSOR_OPERATORS: readonly string[] = [
  ...['reshape', 'flatten.using_ints', 'permute', 'transpose.int', 'squeeze', 'squeeze.dim', 'unsqueeze', 'slice.Tensor', 'select.int'],
  ...[
    'index_select',
    'to.dtype',
    'clone',
    'cat',
    'stack',
    'matmul',
    'sum',
    'sum.dim_IntList',
    'mean',
    'mean.dim',
    'amax',
    'amin',
    'argmax',
  ],
  ...['softmax.int', 'sigmoid', 'topk', ...['add', 'sub', 'mul', 'div'].flatMap((name) => [`${name}.Tensor`, `${name}.Scalar`])],
].map((name) => `aten::${name}`)

export interface Described {
  /** Texts of the generated files. */
  readonly loaders: Written
  readonly reach: Written
}

/** Finds out which parts operators and functions come to. */
export function describeParts(root: string, replaced: Readonly<Record<string, string>>): Described {
  const at = (file: string): string => join(root, replaced[file] ?? file)
  const reach = new Reach({
    sourceOf(importer, specifier) {
      if (!specifier.startsWith('.')) return null
      const file = at(relative(root, sourceOf(importer, specifier)))
      return file.endsWith('.ts') && existsSync(file) ? file : null
    },
    isCut(file, name) {
      const path = relative(root, file)
      // operators are looked for by name, after they were waited for; quantized tensors come from operators that have their part with them
      return (
        path === 'runtime/operators/table/lookup.ts' ||
        // generated code, and kernels that have it behind their products: plans ask for them
        path.startsWith('runtime/native/wasm/emit/') ||
        (path.startsWith(WRITERS) && COMPILED_CALLS.has(name)) ||
        (/dispatch-(common|other)\.ts$|derived\.ts$/.test(path) && name.startsWith('quantized')) ||
        name === 'catQuantized'
      )
    },
  })
  const kernels = new Set(kernelNames())
  const isApart = (name: string): boolean => kernels.has(name) && !FIRST_KERNELS.has(name)
  const needs = new Map<string, Set<string>>()
  for (const part of PARTS) {
    const into = within(part.name)
    needs.set(into, new Set([...(needs.get(into) ?? []), ...part.needs.map(within)]))
  }
  /** What a part brings, and what that brings. */
  const others = (part: string): Set<string> => {
    const found = new Set<string>()
    const waiting = [part]
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
      for (const need of needs.get(next) ?? [])
        if (need !== part && !found.has(need)) {
          found.add(need)
          waiting.push(need)
        }
    return found
  }
  /** Parts of files; what is loaded with others is left out. */
  const partsOf = (places: readonly Place[], besides: readonly string[] = []): string[] => {
    const reached = reach.from(places)
    const parts = new Set([...besides, ...[...reached.keys()].map((file) => placedIn(relative(root, file)))])
    for (const [file, names] of reached) if (file.includes(WRITERS) && [...names].some(isApart)) parts.add(MORE_KERNELS)
    const brought = new Set([FIRST, MODEL, ...[...parts].flatMap((part) => [...others(part)])])
    const kept = [...parts].filter((part) => !brought.has(part)).sort()
    const loaded = new Set([FIRST, MODEL, ...kept, ...kept.flatMap((part) => [...others(part)])])
    const lost = [...parts].find((part) => !loaded.has(part))
    if (lost !== undefined) throw new Error(`nothing brings ${lost}, which ${places.map(String).join(' and ')} comes to`)
    return kept
  }
  const placeOf = (file: string, name: string): Place => {
    const found = reach.find(at(file), name)
    if (found === null) throw new Error(`${file} has no ${name}`)
    return found
  }
  const ofFunction = new Map<string, string>()
  const partsOfFunction = (module: string, name: string, wrapperPart: string): string => {
    const key = `${module}.${name} ${wrapperPart}`
    let text = ofFunction.get(key)
    if (text === undefined) ofFunction.set(key, (text = partsOf([placeOf(NAMED[module]!, name)], [wrapperPart]).join(' ')))
    return text
  }
  const operatorsOf = (...[texts, wrapperPart]: Parameters<Written>): { name: string; parts: string }[] =>
    functionsIn(texts).map(({ name, module, own, wrapper }) => ({ name, parts: partsOfFunction(module, own, wrapperPart(wrapper)) }))

  return {
    loaders(texts) {
      const names = [...new Set([...PARTS.map(({ name }) => within(name))])].filter((name) => name !== FIRST && name !== 'worker')
      // methods of tensors call functions themselves
      const byName = new Map(operatorsOf(texts, () => FIRST).map(({ name, parts }) => [name, parts]))
      const model = new Set([MODEL, ...TENSOR_OPERATORS.flatMap((name) => byName.get(name)!.split(' '))].filter((part) => part !== ''))
      if (model.has(MORE_KERNELS))
        throw new Error('methods of tensors come to kernels that are not in the first file (scripts/web/kernels)')
      const compiler = [
        'compiler',
        MORE_KERNELS,
        'table',
        ...partsOf([
          placeOf('compiler/compiled-call.ts', 'compileCall'),
          placeOf('compiler/regions/method-regions.ts', 'methodRegions'),
          placeOf('compiler/record/recorder.ts', 'recorderOf'),
        ]),
      ]
      const readers = ['ptl', 'ff', 'pt2', 'pte', 'torchscript'].map((format): [string, string[]] => [
        format,
        [...partsOf([placeOf(`formats/${format}/read.ts`, 'read')]), ...(format === 'ptl' || format === 'ff' ? [] : ['table'])],
      ])
      const plans: [string, string[]] = ['ptlc', [...compiler, ...partsOf([placeOf('engine/load-plans.ts', 'loadPlans')])]]
      const functions = reach
        .names(at('web/index.ts'))
        .filter((name) => !LOADING.has(name))
        .flatMap((name): [string, string][] => {
          const found = reach.find(at('web/index.ts'), name)
          return found === null ? [] : [[name, partsOf([found]).join(' ')]]
        })
        .filter(([, parts]) => parts !== '')
      return `import { moreKernelsReady } from ${JSON.stringify(join(root, 'runtime/native/wasm/library.ts'))}
export const LOADERS = {${names.map((name) => `${JSON.stringify(name)}: () => import('./${name}.js')`).join(', ')}, ${JSON.stringify(MORE_KERNELS)}: moreKernelsReady}
export const MODEL = ${JSON.stringify([...model].join(' '))}
export const COMPILER = ${JSON.stringify([...new Set(compiler)].join(' '))}
export const FORMATS = ${JSON.stringify(Object.fromEntries([...readers, plans].map(([name, parts]) => [name, [...new Set(parts)].join(' ')])))}
export const FUNCTIONS = ${JSON.stringify(Object.fromEntries(functions))}
`
    },
    reach(texts, wrapperPart) {
      const operators = operatorsOf(texts, wrapperPart)
      const sets = [...new Set(operators.map(({ parts }) => parts))]
      return `import { unpackNumbers } from '../packed.ts'
const sets = ${JSON.stringify(sets.join(','))}.split(',')
let numbers
export const partsAt = (position) => sets[(numbers ??= unpackNumbers(${JSON.stringify(packNumbers(operators.map(({ parts }) => sets.indexOf(parts))))}))[position]].split(' ').filter((part) => part !== '')
`.replace("'../packed.ts'", JSON.stringify(join(root, 'runtime/operators/table/packed.ts')))
    },
  }
}

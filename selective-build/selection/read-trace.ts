import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parse } from 'yaml'
import { PtliteError } from '../../runtime/error.js'
import { dtypeCode } from '../trace/dtype-tags.js'
import { NOT_CALLED } from '../trace/to-yaml.js'
import { EMPTY_TRACE, type KernelUse, type OperatorUse, type Trace, type TracedModel, type TracedRun } from '../trace/trace.js'

type Fields = Readonly<Record<string, unknown>>

/** Keys that PyTorch's SelectiveBuilder knows; the last one is of later versions. */
const KEYS = new Set([
  'include_all_non_op_selectives',
  'include_all_operators',
  'debug_info',
  'operators',
  'kernel_metadata',
  'custom_classes',
  'build_features',
  'et_kernel_metadata',
])

/** Reads a trace, or a selected-operators file that PyTorch's tools wrote. `knownKernels` are the kernels of this library. */
export function readTrace(path: string, knownKernels: ReadonlySet<string>): Trace {
  let content: string
  try {
    content = readFileSync(path, 'utf8')
  } catch (cause) {
    throw new PtliteError('INVALID_FILE', `cannot read ${path}: ${(cause as Error).message}`, { cause })
  }
  return parseTrace(content, path, knownKernels)
}

/** readTrace from text; `path` is for messages. Throws INVALID_FILE naming file and key. */
export function parseTrace(content: string, path: string, knownKernels: ReadonlySet<string>): Trace {
  const fail = (what: string): never => {
    throw new PtliteError('INVALID_FILE', `${path}: ${what}`)
  }
  let document: unknown
  try {
    // aliases would let a small file stand for a huge one
    document = parse(content, { maxAliasCount: 0 })
  } catch (cause) {
    throw new PtliteError('INVALID_FILE', `${path}: ${(cause as Error).message.split('\n')[0]}`, { cause })
  }
  if (!isFields(document)) return fail('expected a YAML map with the key operators, as in PyTorch selected_operators.yaml')
  for (const key of Object.keys(document)) if (!KEYS.has(key)) fail(`unknown key '${key}'; expected ${[...KEYS].join(', ')}`)
  const strings = (key: string): string[] => {
    const value = document[key] ?? []
    if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) return fail(`${key}: expected a list of texts`)
    return value
  }
  const info = readDebugInfo(strings('debug_info'), dirname(path), fail)
  return {
    ...EMPTY_TRACE,
    operators: readOperators(document['operators'] ?? {}, fail),
    kernels: document['include_all_non_op_selectives'] === true ? null : readKernels(document['kernel_metadata'] ?? {}, knownKernels, fail),
    customClasses: new Set(strings('custom_classes')),
    features: new Set(strings('build_features')),
    models: info.models,
    runs: info.runs,
    warnings: info.warnings,
    all: document['include_all_operators'] === true,
  }
}

type Fail = (what: string) => never

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function readOperators(value: unknown, fail: Fail): Map<string, OperatorUse> {
  if (!isFields(value)) return fail('operators: expected a map of qualified names')
  const operators = new Map<string, OperatorUse>()
  for (const [name, fields] of Object.entries(value)) {
    if (!/^[\w.]+::[\w.]+$/.test(name)) fail(`operators: '${name}' is no qualified operator name such as aten::add.Tensor`)
    if (!isFields(fields ?? {})) fail(`operators: ${name}: expected a map`)
    const { is_root_operator: root, include_all_overloads: overloads, debug_info: debug } = (fields ?? {}) as Fields
    const debugInfo = new Set(Array.isArray(debug) ? debug.map(String) : [])
    const isCalled = !debugInfo.delete(NOT_CALLED)
    // as in PyTorch, an entry that does not say is a root operator
    operators.set(overloads === true && !name.includes('.') ? `${name}.*` : name, { isRoot: root !== false, isCalled, debugInfo })
  }
  return operators
}

/** null where the kernels are not those of this library, such as PyTorch's own. */
function readKernels(value: unknown, knownKernels: ReadonlySet<string>, fail: Fail): Map<string, KernelUse> | null {
  if (!isFields(value)) return fail('kernel_metadata: expected a map of kernel names')
  const entries = Object.entries(value)
  if (entries.length === 0 || !entries.every(([name]) => knownKernels.has(name))) return null
  return new Map(
    entries.map(([name, tags]) => {
      if (!Array.isArray(tags) || !tags.every((tag) => typeof tag === 'string'))
        return fail(`kernel_metadata: ${name}: expected a list of texts`)
      const operations = tags.filter((tag) => tag.includes('.'))
      const dtypes = tags.filter((tag) => !tag.includes('.'))
      const unknown = dtypes.find((tag) => dtypeCode(tag) === undefined)
      if (unknown !== undefined) fail(`kernel_metadata: ${name}: unknown dtype '${unknown}'`)
      return [name, { dtypes: new Set(dtypes), operations: new Set(operations) }]
    }),
  )
}

/** Models and warnings that traceToYaml put there; other texts are somebody else's. */
function readDebugInfo(
  texts: readonly string[],
  folder: string,
  fail: Fail,
): { models: TracedModel[]; runs: TracedRun[]; warnings: string[] } {
  const json = (text: string): unknown => {
    try {
      return JSON.parse(text)
    } catch {
      return fail(`debug_info: cannot read '${text}'`)
    }
  }
  const unreached = texts.flatMap((text) => (text.startsWith('unreached ') ? [json(text.slice(10))] : []))
  const models = texts.flatMap((text): TracedModel[] => {
    if (!text.startsWith('model ')) return []
    const model = json(text.slice(6))
    if (!isFields(model) || typeof model['file'] !== 'string') return fail(`debug_info: cannot read '${text}'`)
    const ranges = unreached.flatMap((row) => (Array.isArray(row) && row[0] === model['file'] ? [String(row[1])] : []))
    return [
      {
        file: model['file'],
        sha256: typeof model['sha256'] === 'string' ? model['sha256'] : null,
        instructions: Number(model['instructions']),
        reached: Number(model['reached']),
        unreached: ranges,
      },
    ]
  })
  const runs = texts.flatMap((text): TracedRun[] => {
    if (!text.startsWith('run ')) return []
    const run = json(text.slice(4))
    if (!isFields(run) || typeof run['model'] !== 'string' || typeof run['method'] !== 'string')
      return fail(`debug_info: cannot read '${text}'`)
    const files = Array.isArray(run['files']) ? run['files'].map((file) => join(folder, String(file))) : null
    const shapes = Array.isArray(run['shapes']) ? { shapes: run['shapes'].map(String) } : {}
    const mode = run['eval'] === true ? { eval: true as const } : {}
    return [{ model: join(folder, run['model']), method: run['method'], files, ...shapes, ...mode }]
  })
  return { models, runs, warnings: texts.flatMap((text) => (text.startsWith('warning ') ? [text.slice(8)] : [])) }
}

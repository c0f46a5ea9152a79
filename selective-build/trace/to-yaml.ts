import { pathFrom } from './model-file.js'
import type { Trace } from './trace.js'

/** In an operator's debug_info: models name it and never came to it. */
export const NOT_CALLED = 'not called'

/**
 * A trace as YAML that PyTorch's SelectiveBuilder reads too (torchgen/selective_build/selector.py): what PyTorch has no key for stands in
 * its free texts, build_features and debug_info. Paths are written as seen from `folder`, where the file will stand.
 */
export function traceToYaml(trace: Trace, folder = '.'): string {
  const operators = sorted(trace.operators.keys()).map((name) => {
    const { isRoot, isCalled, debugInfo: from } = trace.operators.get(name)!
    const debugInfo = isCalled ? from : new Set([...from, NOT_CALLED])
    return (
      `  ${text(name)}:\n    is_root_operator: ${isRoot}\n    is_used_for_training: false\n    include_all_overloads: false\n` +
      (debugInfo.size === 0 ? '' : `    debug_info: [${sorted(debugInfo).map(text).join(', ')}]\n`)
    )
  })
  const kernels = [...(trace.kernels ?? [])].sort(([a], [b]) => (a < b ? -1 : 1))
  return (
    `include_all_non_op_selectives: ${trace.all}\n` +
    `include_all_operators: ${trace.all}\n` +
    list('debug_info', debugInfo(trace, folder)) +
    map('operators', operators) +
    map(
      'kernel_metadata',
      kernels.map(([name, use]) => `  ${name}: [${[...sorted(use.dtypes), ...sorted(use.operations)].map(text).join(', ')}]\n`),
    ) +
    list('custom_classes', sorted(trace.customClasses)) +
    list('build_features', sorted(trace.features))
  )
}

/** What debug_info says of models and warnings, one text each; parsed again by readTrace. */
function debugInfo(trace: Trace, folder: string): string[] {
  const from = (path: string): string => pathFrom(folder, path)
  return [
    ...trace.models.map(
      (m) => `model ${JSON.stringify({ file: m.file, sha256: m.sha256, instructions: m.instructions, reached: m.reached })}`,
    ),
    ...trace.models.flatMap((m) => m.unreached.map((range) => `unreached ${JSON.stringify([m.file, range])}`)),
    ...trace.runs.map((run) => `run ${JSON.stringify({ ...run, model: from(run.model), files: run.files?.map(from) ?? null })}`),
    ...trace.warnings.map((warning) => `warning ${warning}`),
  ]
}

function list(key: string, items: readonly string[]): string {
  return items.length === 0 ? `${key}: []\n` : `${key}:\n${items.map((item) => `  - ${text(item)}\n`).join('')}`
}

function map(key: string, rows: readonly string[]): string {
  return rows.length === 0 ? `${key}: {}\n` : `${key}:\n${rows.join('')}`
}

function sorted(items: Iterable<string>): string[] {
  return [...items].sort()
}

/** JSON strings are YAML strings; plain ones where YAML has no other meaning for them. */
function text(value: string): string {
  return /^[A-Za-z_][\w.]*(::[\w.]+)?$/.test(value) && !/^(y|n|yes|no|on|off|true|false|null)$/i.test(value) ? value : JSON.stringify(value)
}

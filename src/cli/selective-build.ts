import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { kernelFields } from '../../runtime/native/generated/kernel-fields.js'
import { buildSelected } from '../../selective-build/build/build.js'
import { findCheckout } from '../../selective-build/build/checkout.js'
import { type Target, type TargetName, TARGETS, targetOf } from '../../selective-build/build/target.js'
import { reportText } from '../../selective-build/report/report.js'
import { traceOfModel } from '../../selective-build/selection/from-model.js'
import { readTrace } from '../../selective-build/selection/read-trace.js'
import { EMPTY_TRACE, mergeTraces, type Trace } from '../../selective-build/trace/trace.js'
import { readCompiled, whyUnusable } from './compiled-file.js'
import { traceOfCompiled } from './compiled-trace.js'
import { SELECTIVE_BUILD, SELECTIVE_BUILD_OPTIONS } from './selective-build-usage.js'
import { type Command, parse, UsageError } from './usage.js'
import { verifyLevels, verifyTrace } from './verify.js'
import { verifyWasm } from './verify-wasm.js'

export const selectiveBuild: Command = {
  ...SELECTIVE_BUILD,

  async run(args) {
    const { values } = parse({ args, options: SELECTIVE_BUILD_OPTIONS })
    if (values.out === undefined) throw new UsageError('name the output folder with --out')
    const { target, isa } = targetIn(values)
    const known = new Set(kernelFields.map((row) => row.split(' ', 1)[0]!))
    const traces: Trace[] = [
      ...(values.ops ?? []).map((file) => readTrace(file, known)),
      ...(values.all ? [{ ...EMPTY_TRACE, all: true }] : []),
    ]
    // one after the other: a thread records one run at a time
    for (const file of values.trace ?? []) traces.push(await traceIn(file, values['verify-only'], (path) => readTrace(path, known)))
    for (const file of values.model ?? []) traces.push(await traceIn(file, values['verify-only'], traceOfModel))
    if (traces.length === 0) throw new UsageError('say what to build: --trace, --model, --ops or --all')
    const trace = mergeTraces(traces)
    if (values['verify-only']) return verifyTrace(trace, values.out, values['with-compiler'])
    const root = findCheckout(values.sources)
    const report = await buildSelected({
      root,
      target,
      trace,
      allDtypes: values['all-dtypes'],
      compiler: values['with-compiler'],
      isa,
      out: values.out,
      cache: values.cache ?? join(root, 'build/selective'),
      command: `selective-build ${args.join(' ')}`,
      onProgress: (line) => console.error(line),
    })
    console.log(reportText(report))
    if (values['no-verify']) return
    if (target.name === 'wasm32') await verifyWasm(trace, values.out, report.levels[0]!, root, values['with-compiler'])
    else verifyLevels(trace, report.levels, args)
  },
}

/** What to build for, and its levels. */
function targetIn({ target: name, isa, level }: { readonly target: string; readonly isa?: string; readonly level?: string }): {
  readonly target: Target
  readonly isa: readonly string[]
} {
  if (!isTarget(name)) throw new UsageError(`--target: expected ${TARGETS.join(' or ')}, found '${name}'`)
  if (name === 'wasm32' && isa !== undefined)
    throw new UsageError('--isa is of native builds; --level names that of WebAssembly: default or relaxed')
  if (name === 'native' && level !== undefined) throw new UsageError('--level is of --target wasm32; --isa names those of a native build')
  const levels = name === 'wasm32' ? level : isa
  return { target: targetOf(name), isa: levels === undefined ? [] : levels.split(',') }
}

const isTarget = (name: string): name is TargetName => (TARGETS as readonly string[]).includes(name)

/** What a .ptlc file uses, which it says itself; else what `read` finds in the file. A comparison at another level than a file's leaves it out. */
function traceIn(file: string, isComparison: boolean, read: (file: string) => Trace): Trace | Promise<Trace> {
  const compiled = existsSync(file) ? readCompiled(file) : null
  if (compiled === null) return read(file)
  return isComparison && whyUnusable(file) !== null ? EMPTY_TRACE : traceOfCompiled(file, compiled)
}

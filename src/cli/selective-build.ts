import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { kernelFields } from '../../runtime/native/generated/kernel-fields.js'
import { buildSelected } from '../../selective-build/build/build.js'
import { findCheckout } from '../../selective-build/build/checkout.js'
import { reportText } from '../../selective-build/report/report.js'
import { traceOfModel } from '../../selective-build/selection/from-model.js'
import { readTrace } from '../../selective-build/selection/read-trace.js'
import { EMPTY_TRACE, mergeTraces, type Trace } from '../../selective-build/trace/trace.js'
import { readCompiled, whyUnusable } from './compiled-file.js'
import { traceOfCompiled } from './compiled-trace.js'
import { exerciseOf } from './exercise.js'
import { type Command, parse, UsageError } from './usage.js'
import { verifyLevels, verifyTrace } from './verify.js'

export const selectiveBuild: Command = {
  usage:
    'selective-build (--trace FILE | --model FILE | --ops FILE | --all) ... --out DIR [--isa avx2,avx512] [--all-dtypes] [--with-compiler] [--no-verify]',
  help: `Builds a runtime that holds only what models use.

      --trace FILE   what 'ptlite trace' or stopTracing() wrote, or a .ptlc file; may be repeated
      --model FILE   a model's operators, with all kernels and dtypes that they may need, or the kernels and dtypes of
                     a .ptlc file, and its level; may be repeated
      --ops FILE     a list of operators: a selected_operators.yaml, as PyTorch's tools write it too; may be repeated
      --all          everything, for comparison
      --isa LIST     instruction set levels, such as avx2,avx512; all of them without it
      --all-dtypes   keep all dtypes of the kernels that traces name
      --with-compiler  keep the compiler; traces made with 'ptlite trace --plans' name the kernels of plans, others bring all of them
      --out DIR      gets index.js, index.cjs, index.d.ts, libptlite.so, messages.json, selected_operators.yaml, report.json, report.txt, report.svg
      --no-verify    do not run the traced models in the new build
      --verify-only  run the traced models in the build that stands in --out, and nothing else
      --cache DIR    where object files are kept; build/selective in the project without it
      --sources DIR  a checkout of ptlite with its npm packages installed, where this command is not run from one`,

  async run(args) {
    const { values } = parse({
      args,
      options: {
        trace: { type: 'string', multiple: true },
        model: { type: 'string', multiple: true },
        ops: { type: 'string', multiple: true },
        all: { type: 'boolean', default: false },
        isa: { type: 'string' },
        'all-dtypes': { type: 'boolean', default: false },
        'with-compiler': { type: 'boolean', default: false },
        out: { type: 'string' },
        'no-verify': { type: 'boolean', default: false },
        cache: { type: 'string' },
        sources: { type: 'string' },
        'verify-only': { type: 'boolean', default: false },
      },
    })
    if (values.out === undefined) throw new UsageError('name the output folder with --out')
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
      trace,
      allDtypes: values['all-dtypes'],
      compiler: values['with-compiler'],
      isa: values.isa === undefined ? [] : values.isa.split(','),
      out: values.out,
      cache: values.cache ?? join(root, 'build/selective'),
      command: `selective-build ${args.join(' ')}`,
      onProgress: (line) => console.error(line),
      exercise: exerciseOf(trace),
    })
    console.log(reportText(report))
    if (!values['no-verify']) verifyLevels(trace, report.levels, args)
  },
}

/** What a .ptlc file uses, which it says itself; else what `read` finds in the file. A comparison at another level than a file's leaves it out. */
function traceIn(file: string, isComparison: boolean, read: (file: string) => Trace): Trace | Promise<Trace> {
  const compiled = existsSync(file) ? readCompiled(file) : null
  if (compiled === null) return read(file)
  return isComparison && whyUnusable(file) !== null ? EMPTY_TRACE : traceOfCompiled(file, compiled)
}

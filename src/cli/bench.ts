import { cpu, getNumThreads, type Input, loadModule, memoryStats, type Module, Profiler, setNumThreads } from '../index.js'
import { chooseInputs } from './choose-inputs.js'
import { loadOperators, OPS_OPTION } from './custom-operators.js'
import { EVAL_OPTION, evalOf, WEIGHTS_OPTION, weightsOf, WINOGRAD_OPTION, winogradOf, THREADS_OPTION } from './model-options.js'
import { formatBytes } from '../format-bytes.js'
import { formatMilliseconds, table } from './format.js'
import { dispose } from '../inspect/guess.js'
import { type KernelTime, kernelTable, kernelTimes } from './kernel-profile.js'
import { during } from './terminal.js'
import type { OptionTable } from './options.js'
import { METHOD_OPTION, INPUT_OPTIONS, type Command, parseCount, parseModelArguments } from './usage.js'

const WARM_UP = 5
/** Replays that are profiled, at most. */
const PROFILED = 50

const OPTIONS = {
  ...THREADS_OPTION,
  ...INPUT_OPTIONS,
  ...METHOD_OPTION,
  runs: { type: 'string', value: 'N', help: 'this many runs; without it as many as fit the time, at least 20' },
  seconds: { type: 'string', default: '3', value: 'N', help: 'time to spend (3)' },
  profile: {
    type: 'boolean',
    default: false,
    help: 'also the kernel calls of the compiled method: median time, GFLOP/s, GB/s and share of each',
  },
  json: { type: 'boolean', default: false, help: 'as JSON' },
  ...EVAL_OPTION,
  ...WINOGRAD_OPTION,
  ...WEIGHTS_OPTION,
  ...OPS_OPTION,
} as const satisfies OptionTable

export const bench: Command = {
  synopsis: 'bench MODEL',
  about: `Times a method.

Arguments are those that are given, else the inputs bundled with the model, else of a form that a .ptlc file was compiled for,
else of the smallest sizes that the file declares, else a guess from the weights.`,
  options: OPTIONS,

  async run(args) {
    const { model, inputs, values } = parseModelArguments(args, OPTIONS)
    setNumThreads(parseCount(values.threads, '--threads', 1))
    const runs = values.runs === undefined ? undefined : parseCount(values.runs, '--runs', 1)
    const seconds = parseCount(values.seconds, '--seconds', 1)

    await loadOperators(values.ops)
    const loadStart = performance.now()
    const module = await during(`loading ${model}`, () =>
      loadModule(model, { ...evalOf(values), ...winogradOf(values), ...weightsOf(values) }),
    )
    const loadMs = performance.now() - loadStart
    const { args: call, source } = await chooseInputs(module, model, values.method, inputs, values.shape)

    const firstStart = performance.now()
    dispose(module.call(values.method, call))
    const firstMs = performance.now() - firstStart
    const times = await during(runs === undefined ? `timing for ${seconds} s` : `timing ${runs} runs`, () =>
      measure(() => dispose(module.call(values.method, call)), runs, seconds * 1000),
    )
    const kernels = values.profile ? profile(module, values.method, call, Math.min(times.length, PROFILED)) : undefined
    const report = {
      model,
      method: values.method,
      input: source,
      cpuLevel: cpu.currentLevel(),
      threads: getNumThreads(),
      runs: times.length,
      loadMs,
      firstMs,
      medianMs: quantile(times, 0.5),
      p95Ms: quantile(times, 0.95),
      minMs: times[0]!,
      maxMs: times.at(-1)!,
      peakBytes: memoryStats().peak,
      kernels,
    }
    console.log(values.json ? JSON.stringify(report) : textOf(report))
    if (kernels !== undefined && !values.json) console.log(`\n${kernelTable(kernels)}`)
    module.dispose()
  },
}

/** The kernel calls of a plan, over some replays. Throws INVALID_ARGUMENT where there can be no plan. */
function profile(module: Module, method: string, call: readonly Input[], replays: number): KernelTime[] {
  const events = Array.from({ length: replays }, () => {
    const profiler = new Profiler({ kernels: true })
    dispose(module.call(method, call, { profiler }))
    return profiler.events
  })
  return kernelTimes(events)
}

/** Milliseconds of single runs, sorted. */
function measure(run: () => void, runs: number | undefined, milliseconds: number): number[] {
  for (let i = 0; i < WARM_UP; i++) run()
  const times: number[] = []
  const begin = performance.now()
  while (runs === undefined ? times.length < 20 || performance.now() - begin < milliseconds : times.length < runs) {
    const start = performance.now()
    run()
    times.push(performance.now() - start)
  }
  return times.sort((a, b) => a - b)
}

/** Linear interpolation between the nearest ranks of sorted `values`. */
function quantile(values: readonly number[], q: number): number {
  const at = q * (values.length - 1)
  const low = values[Math.floor(at)]!
  return low + (values[Math.ceil(at)]! - low) * (at - Math.floor(at))
}

interface Report {
  readonly input: string
  readonly cpuLevel: string
  readonly threads: number
  readonly runs: number
  readonly loadMs: number
  readonly firstMs: number
  readonly medianMs: number
  readonly p95Ms: number
  readonly minMs: number
  readonly maxMs: number
  readonly peakBytes: number
}

function textOf(r: Report): string {
  return table([
    ['input', r.input],
    ['kernels', `${r.cpuLevel}, at most ${r.threads} thread${r.threads === 1 ? '' : 's'}`],
    ['load', formatMilliseconds(r.loadMs)],
    ['first run', formatMilliseconds(r.firstMs)],
    ['median', formatMilliseconds(r.medianMs)],
    ['p95', formatMilliseconds(r.p95Ms)],
    ['range', `${formatMilliseconds(r.minMs)} to ${formatMilliseconds(r.maxMs)}`],
    ['runs', String(r.runs)],
    ['peak memory', `${formatBytes(r.peakBytes)} of tensors, weights of mapped files aside`],
  ])
}

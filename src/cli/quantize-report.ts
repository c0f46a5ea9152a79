import { PtliteError } from '../../runtime/error.js'
import { roundedBytes } from '../../runtime/operators/support/rounded-weight.js'
import { getNumThreads, type Input, loadModule, type LoadOptions, type Module, setNumThreads, Tensor } from '../index.js'
import { dispose } from '../inspect/guess.js'
import { chooseInputs } from './choose-inputs.js'
import { refuseCompiled } from './compiled-file.js'
import { EVAL_OPTION, evalOf, THREADS_OPTION } from './model-options.js'
import { formatBytes } from '../format-bytes.js'
import { section } from './format.js'
import { type Difference, differenceOf, type Floats, floatsOf, type TokenDifference, tokenDifference } from './output-difference.js'
import { during } from './terminal.js'
import type { OptionTable } from './options.js'
import { METHOD_OPTION, INPUT_OPTIONS, type Command, parseCount, parseModelArguments, UsageError } from './usage.js'

const FORMATS = ['bfloat16', 'float16', 'int8', 'int4'] as const
type Format = (typeof FORMATS)[number]
type Rounding = Pick<LoadOptions, 'weights' | 'group' | 'activations' | 'keep'>

/** What a format comes to. */
interface FormatReport extends Difference {
  readonly format: Format | 'float32'
  /** Of all weights. */
  readonly bytes: number
  readonly medianMs: number
  readonly tokens: TokenDifference | null
}

/** The difference that one layer makes, all others as they are. */
interface LayerReport extends Difference {
  readonly layer: string
  readonly format: Format
  readonly bytes: number
  readonly tokens: TokenDifference | null
}

/** A model that is loaded for each measurement, and the call that is made. */
interface Subject {
  readonly model: string
  readonly method: string
  readonly args: readonly Input[]
  readonly load: LoadOptions
  /** Arguments are tokens, so that results are scores of tokens. */
  readonly isOfTokens: boolean
}

const OPTIONS = {
  ...INPUT_OPTIONS,
  ...METHOD_OPTION,
  formats: { type: 'string', default: FORMATS.join(','), value: 'A,B', help: `some of ${FORMATS.join(', ')}; all of them without it` },
  group: { type: 'string', value: 'N', help: 'of integers: 32, 64, 128 or 256 numbers of a row share a scale' },
  activations: { type: 'string', value: 'float', help: 'of integers: what they are multiplied with stays float32' },
  'no-layers': {
    type: 'boolean',
    default: false,
    help: 'formats alone: with layers the model is loaded and called for each layer and format',
  },
  runs: { type: 'string', default: '20', value: 'N', help: 'calls that are timed (20)' },
  ...THREADS_OPTION,
  json: { type: 'boolean', default: false, help: 'as JSON' },
  ...EVAL_OPTION,
} as const satisfies OptionTable

export const quantizeReport: Command = {
  synopsis: 'quantize-report MODEL',
  about: `Says what rounding weights costs: bytes, time and results.

For each format of --weights (docs/weights.md): the bytes of all weights, the median time of a compiled call, and how far results lie from those with float32: the
largest distance, the relative error (root of squares) and the cosine. Where an argument is integers, results are taken for scores of tokens: how often the first
one is the same, and the Kullback-Leibler divergence. Then the same for each layer alone, the worst first. Inputs are chosen as for bench.`,
  options: OPTIONS,

  async run(args) {
    const { model, inputs, values } = parseModelArguments(args, OPTIONS)
    const formats = formatsOf(values.formats)
    const integers = integerOptions(values)
    const runs = parseCount(values.runs, '--runs', 1)
    setNumThreads(parseCount(values.threads, '--threads', 1))
    refuseCompiled(model, 'quantize', 'give it the model that the file was compiled from')
    const load: LoadOptions = { ...evalOf(values), onWarning: () => undefined }
    const exact = await during(`loading ${model}`, () => loadModule(model, load))
    const { args: call, source } = await chooseInputs(exact, model, values.method, inputs, values.shape)
    const isOfTokens = call.some((value) => value instanceof Tensor && (value.dtype === 'int64' || value.dtype === 'int32'))
    const subject: Subject = { model, method: values.method, args: call, load, isOfTokens }
    const wanted = resultOf(exact, subject)
    if (wanted.length === 0) throw new PtliteError('INVALID_ARGUMENT', `${values.method} of ${model} gives no float tensors to compare`)
    const all: FormatReport[] = [
      { format: 'float32', ...comparison(wanted, wanted, subject), bytes: bytesOf(exact), medianMs: timeOf(exact, subject, runs) },
    ]
    exact.dispose()
    const layers: LayerReport[] = []
    for (const format of formats) {
      const rounding = { weights: format, ...(format.startsWith('int') ? integers : {}) }
      const found = await during(`rounding to ${format}`, () => measure(subject, rounding, wanted, runs))
      all.push({ format, ...found.report })
      if (values['no-layers']) continue
      for (const layer of found.layers) layers.push(await during(`${format}: ${layer}`, () => alone(subject, rounding, layer, wanted)))
    }
    layers.sort((a, b) => b.relative - a.relative)
    const report = { model, method: values.method, input: source, threads: getNumThreads(), formats: all, layers }
    console.log(values.json ? JSON.stringify(report) : textOf(all, layers, isOfTokens))
  },
}

function formatsOf(text: string): Format[] {
  return text.split(',').map((name) => {
    const format = FORMATS.find((known) => known === name)
    if (format === undefined) throw new UsageError(`--formats: expected some of ${FORMATS.join(', ')}, found '${name}'`)
    return format
  })
}

function integerOptions({ group, activations }: { readonly group?: string; readonly activations?: string }): Rounding {
  if (activations !== undefined && activations !== 'float') throw new UsageError(`--activations: expected float, found '${activations}'`)
  return {
    ...(group === undefined ? {} : { group: parseCount(group, '--group', 32) }),
    ...(activations === undefined ? {} : { activations: 'float' }),
  }
}

function resultOf(module: Module, { method, args }: Subject): Floats[] {
  const result = module.call(method, args)
  const floats = floatsOf(result)
  dispose(result)
  return floats
}

function comparison(
  found: readonly Floats[],
  wanted: readonly Floats[],
  { isOfTokens }: Subject,
): Difference & { tokens: TokenDifference | null } {
  return { ...differenceOf(found, wanted), tokens: isOfTokens ? tokenDifference(found, wanted) : null }
}

/** Milliseconds of a call that is compiled. */
function timeOf(module: Module, subject: Subject, runs: number): number {
  for (let i = 0; i < 3; i++) resultOf(module, subject)
  const times = Array.from({ length: runs }, () => {
    const start = performance.now()
    dispose(module.call(subject.method, subject.args))
    return performance.now() - start
  })
  return times.sort((a, b) => a - b)[Math.floor(runs / 2)]!
}

/** Bytes of all weights, each storage once. */
function bytesOf(module: Module): number {
  const counted = new Map([...module.parameters().values()].map((t) => [t.storage, roundedBytes(t.storage) ?? t.numel * t.itemSize]))
  return [...counted.values()].reduce((sum, bytes) => sum + bytes, 0)
}

/** A format for all layers, and the names of those that it rounds. */
async function measure(
  subject: Subject,
  rounding: Rounding,
  wanted: readonly Floats[],
  runs: number,
): Promise<{ readonly report: Omit<FormatReport, 'format'>; readonly layers: readonly string[] }> {
  const module = await loadModule(subject.model, { ...subject.load, ...rounding })
  try {
    const found = resultOf(module, subject)
    const bytes = bytesOf(module)
    const names = new Map([...module.parameters()].reverse().map(([name, t]) => [t.storage, name]))
    const layers = [...module.parameters()].filter(([name, t]) => names.get(t.storage) === name && roundedBytes(t.storage) !== null)
    const report = { ...comparison(found, wanted, subject), bytes, medianMs: timeOf(module, subject, runs) }
    return { report, layers: layers.map(([name]) => name) }
  } finally {
    module.dispose()
  }
}

/** One layer rounded, by the name of its weight. */
async function alone(subject: Subject, rounding: Rounding, layer: string, wanted: readonly Floats[]): Promise<LayerReport> {
  const keep = (name: string): boolean => name !== layer
  const module = await loadModule(subject.model, { ...subject.load, ...rounding, keep, compile: 'off' })
  try {
    const found = resultOf(module, subject)
    const weight = module.parameters().get(layer)!
    return {
      layer,
      format: rounding.weights!,
      ...comparison(found, wanted, subject),
      bytes: roundedBytes(weight.storage) ?? weight.numel * weight.itemSize,
    }
  } finally {
    module.dispose()
  }
}

/** Tables of formats and of layers. */
function textOf(formats: readonly FormatReport[], layers: readonly LayerReport[], isOfTokens: boolean): string {
  const heads = ['bytes', 'largest', 'relative', 'cosine', ...(isOfTokens ? ['top 1', 'divergence'] : [])]
  const cells = (r: FormatReport | LayerReport): string[] => [
    formatBytes(r.bytes),
    r.largest.toPrecision(3),
    r.relative.toPrecision(3),
    r.cosine.toFixed(6),
    ...(!isOfTokens ? [] : r.tokens === null ? ['', ''] : [`${(100 * r.tokens.top1).toFixed(1)} %`, r.tokens.divergence.toPrecision(3)]),
  ]
  const first = formats[0]!.medianMs
  const rows = formats.map((r) => [r.format, ...cells(r), `${r.medianMs.toFixed(2)} ms`, `${(r.medianMs / first).toFixed(2)}x`])
  const right = [1, 2, 3, 4, 5, 6, 7, 8]
  const text = section('formats', [['', ...heads, 'time', ''], ...rows], right)
  if (layers.length === 0) return text
  return `${text}\n\n${section('layers', [['', '', ...heads], ...layers.map((r) => [r.layer, r.format, ...cells(r)])], right.slice(1))}`
}

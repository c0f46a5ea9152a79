import { replaceFiles } from '../../codegen/replace-files.js'
import { type Input, loadModule, type Module, type Output, Profiler, Tensor } from '../index.js'
import { type InputFiles, readArguments } from './arguments.js'
import { loadOperators, OPS_OPTION } from './custom-operators.js'
import { EVAL_OPTION, evalOf, LIMIT_OPTION, limitsFrom, WEIGHTS_OPTION, weightsOf, WINOGRAD_OPTION, winogradOf } from './model-options.js'
import { knownInputs } from './choose-inputs.js'
import { formatValue } from './format.js'
import { checkPrintable } from './printable.js'
import { toJson } from './json-values.js'
import { kernelTable, kernelTimes } from './kernel-profile.js'
import { writeNpy } from './npy.js'
import { labelled, type Shown } from './labelled.js'
import { readLabels } from './labels.js'
import { during } from './terminal.js'
import type { OptionTable } from './options.js'
import { METHOD_OPTION, INPUT_OPTIONS, type Command, parseCount, parseModelArguments, UsageError } from './usage.js'
import { writeFile } from './write-file.js'

const OPTIONS = {
  ...INPUT_OPTIONS,
  each: {
    type: 'boolean',
    default: false,
    help: 'run once for each input file, which is named before its result; with --json a list of {"file", "result"}',
  },
  labels: {
    type: 'string',
    value: 'FILE',
    help: 'print the likeliest classes in place of the result, or boxes with their classes, or shares of pixels, by what the result is: names by line, or a JSON list or object',
  },
  top: { type: 'string', value: 'N', help: 'with --labels: how many of them (5, and all boxes)' },
  ...METHOD_OPTION,
  json: { type: 'boolean', default: false, help: 'the result, or the classes, as JSON' },
  output: {
    type: 'string',
    short: 'o',
    value: 'FILE.npy',
    help: 'write the result, a tensor; for several tensors the file gets a number each',
  },
  profile: {
    type: 'string',
    value: 'FILE',
    help: 'write the operators of the run as a Chrome trace (chrome://tracing, Perfetto)',
  },
  kernels: {
    type: 'boolean',
    default: false,
    help: 'with --profile: compile the method, and write the kernel calls of its plan with their operations and bytes; as a table too, but for --json',
  },
  ...EVAL_OPTION,
  ...WINOGRAD_OPTION,
  ...WEIGHTS_OPTION,
  ...LIMIT_OPTION,
  ...OPS_OPTION,
} as const satisfies OptionTable

export const run: Command = {
  synopsis: 'run MODEL',
  about: `Calls a method and prints its result.

Without arguments, those that are bundled with the model, or random ones: of a form that a .ptlc file was compiled for, or of the smallest
sizes that the file declares.`,
  options: OPTIONS,

  async run(args) {
    const { model, inputs, values } = parseModelArguments(args, OPTIONS)
    if (values.kernels && values.profile === undefined) throw new UsageError('--kernels goes with --profile')
    if (values.top !== undefined && values.labels === undefined) throw new UsageError('--top goes with --labels')
    if (values.each && (values.output !== undefined || values.profile !== undefined))
      throw new UsageError('--each goes with neither --output nor --profile')
    if (values.each && inputs.isBatch === true) throw new UsageError('--each and --batch do not go together')
    if (values.shape !== undefined && inputs.files.length > 0) throw new UsageError('--shape goes without input files')
    if (values.each && inputs.files.length === 0) throw new UsageError('--each needs input files')
    const top = values.top === undefined ? undefined : parseCount(values.top, '--top', 1)
    checkOutput(values.output)
    const labels = values.labels === undefined ? undefined : readLabels(values.labels)
    await loadOperators(values.ops)
    const module = await during(`loading ${model}`, () =>
      loadModule(model, { ...evalOf(values), ...winogradOf(values), ...weightsOf(values), ...limitsFrom(values) }),
    )
    const shown = (result: Output): Shown => {
      if (labels !== undefined) return labelled(result, labels, top)
      checkPrintable(result)
      return values.json ? { json: toJson(result), text: '' } : { json: null, text: formatValue(result) }
    }
    const profiler = values.profile === undefined ? undefined : new Profiler({ kernels: values.kernels })
    const callWith = (call: readonly Input[]): Promise<Output> =>
      during(`running ${values.method}`, () => module.call(values.method, call, profiler === undefined ? {} : { profiler }))
    if (values.each) {
      const results: { file: string; result: unknown }[] = []
      for (const file of inputs.files) {
        const { json, text } = shown(await callWith(await readArguments({ ...inputs, files: [file] })))
        if (values.json) results.push({ file, result: json })
        else console.log(`${file}:\n${text}`)
      }
      if (values.json) console.log(JSON.stringify(results))
    } else {
      const { args: call, source } = await runInputs(module, model, values.method, inputs, values.shape)
      if (source !== null) console.error(`ptlite run: no --input; ${source}`)
      if (inputs.files.length > 1 && call.length > 1 && values.method === 'forward' && module.inputs?.length === 1)
        throw new UsageError(
          `${model} takes one argument, found ${call.length}; --each runs it once for each file, --batch makes one of pictures`,
        )
      const result = await callWith(call)
      if (profiler !== undefined) await writeFile(values.profile!, profiler.toChromeTrace())
      if (values.output !== undefined) await writeTensors(values.output, result)
      const { json, text } = shown(result)
      console.log(values.json ? JSON.stringify(json) : text)
      if (values.kernels && !values.json) console.log(`\n${kernelTable(kernelTimes([profiler!.events]))}`)
    }
    module.dispose()
  },
}

/** Without files the arguments that are known; `source` says which. */
async function runInputs(
  module: Module,
  model: string,
  method: string,
  inputs: InputFiles,
  shapes: readonly string[] | undefined,
): Promise<{ args: readonly Input[]; source: string | null }> {
  const known = inputs.files.length > 0 ? null : knownInputs(module, model, method, shapes)
  return known === null || known.args.length === 0 ? { args: await readArguments(inputs), source: null } : known
}

function checkOutput(file: string | undefined): void {
  if (file !== undefined && !file.endsWith('.npy')) throw new UsageError(`--output: expected a .npy file, found '${file}'`)
}

async function writeTensors(file: string, result: Output): Promise<void> {
  const tensors = Array.isArray(result) ? result : [result]
  if (!tensors.every((t) => t instanceof Tensor)) throw new UsageError('--output: the result is not a tensor or a list of tensors')
  const nameOf = (i: number): string => (Array.isArray(result) ? file.replace(/\.npy$/, `.${i}.npy`) : file)
  await replaceFiles(new Map(tensors.map((t, i) => [nameOf(i), writeNpy(t)])))
}

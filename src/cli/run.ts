import { type Input, loadModule, type Output, Profiler, Tensor } from '../index.js'
import { loadOperators, OPS_HELP, OPS_OPTION } from './custom-operators.js'
import { exampleInputs } from './example-inputs.js'
import { formatValue } from './format.js'
import { readInputs } from './inputs.js'
import { toJson } from './json-values.js'
import { writeNpy } from './npy.js'
import { type Command, parseModelArguments, UsageError } from './usage.js'
import { writeFile, writeText } from './write-file.js'

export const run: Command = {
  usage: 'run MODEL [--input FILE.npy|FILE.json ...] [--method forward] [--json] [--output FILE.npy] [--profile trace.json]',
  help: `Calls a method and prints its result.

  -i, --input FILE    an argument, in order: a NumPy array, or JSON (nested numbers, or {"dtype", "shape", "data"},
                      {"int": 5}, {"list": [...]}, ...; {"args": [...]} for several arguments). A .ptlc file is run without any on
                      random arguments of a form that it was compiled for
  -m, --method NAME   forward without it
      --json          the result as JSON
  -o, --output FILE   write the result, a tensor, as .npy; for several tensors FILE gets a number each
      --profile FILE  write the operators of the run as a Chrome trace
${OPS_HELP}`,

  async run(args) {
    const { model, inputs, values } = parseModelArguments(args, {
      method: { type: 'string', short: 'm', default: 'forward' },
      json: { type: 'boolean', default: false },
      output: { type: 'string', short: 'o' },
      profile: { type: 'string' },
      ...OPS_OPTION,
    })
    await loadOperators(values.ops)
    const module = await loadModule(model)
    const profiler = values.profile === undefined ? undefined : new Profiler()
    const { args: call, source } = runInputs(model, values.method, inputs)
    if (source !== null) console.error(`ptlite run: no --input; ${source}`)
    const result = module.call(values.method, call, profiler === undefined ? {} : { profiler })
    if (profiler !== undefined) writeText(values.profile!, profiler.toChromeTrace())
    if (values.output !== undefined) writeTensors(values.output, result)
    console.log(values.json ? JSON.stringify(toJson(result)) : formatValue(result))
  },
}

/** Without files the arguments that a .ptlc file was compiled for; `source` says so. */
function runInputs(model: string, method: string, files: readonly string[]): { args: readonly Input[]; source: string | null } {
  const example = files.length > 0 ? null : exampleInputs(model, method)
  return example === null || example.args.length === 0 ? { args: readInputs(files), source: null } : example
}

function writeTensors(file: string, result: Output): void {
  if (!/\.npy$/.test(file)) throw new UsageError(`--output: expected a .npy file, found '${file}'`)
  const tensors = Array.isArray(result) ? result : [result]
  if (!tensors.every((t) => t instanceof Tensor)) throw new UsageError('--output: the result is not a tensor or a list of tensors')
  tensors.forEach((t, i) => writeFile(Array.isArray(result) ? file.replace(/\.npy$/, `.${i}.npy`) : file, writeNpy(t)))
}

import { extname } from 'node:path'
import { openProgram, readProgram } from '../../formats/read.js'
import { extensionsText, formats, writableFormats } from '../../formats/registry.js'
import { allSteps } from '../../formats/steps.js'
import { withExplicitCounts } from '../../formats/writing/explicit-counts.js'
import type { ObjectState } from '../../formats/writing/program-writer.js'
import { GROUPS, type IntegerFormat, withIntegerWeights } from '../../formats/writing/integer-weights.js'
import { exampleTensor } from '../../formats/writing/example-tensor.js'
import { setTraining } from '../../program/training.js'
import { trainingText } from '../../program/training-layers.js'
import type { ScriptObject } from '../../runtime/tensor/value.js'
import { trainingOf } from '../inspect/training.js'
import { loadOperators, OPS_OPTION } from './custom-operators.js'
import { EVAL_OPTION } from './model-options.js'
import { during } from './terminal.js'
import type { OptionTable } from './options.js'
import { parse, parseCount, UsageError, type Command } from './usage.js'
import { parseShape } from './shapes.js'
import { reportBeside, writeFile } from './write-file.js'

/** ptlite convert: writes what a file holds in another format. */
const OPTIONS = {
  output: { type: 'string', short: 'o', value: 'FILE', isRequired: true, help: 'where it goes' },
  weights: {
    type: 'string',
    value: 'int8|int4',
    help: 'of a mobile module: rounds the weights of linear layers, int8 with a scale for each output, int4 with one for each group of its inputs, and multiplies by them with operators of PyTorch 2 (docs/weights.md); of int4 a file is for processors as this one',
  },
  group: { type: 'string', value: 'N', help: 'of int4: 32, 64, 128 or 256 inputs share a scale; 32 without it' },
  shape: {
    type: 'string',
    multiple: true,
    value: 'SIZES',
    help: 'for a .pte, whose tensors are of fixed or bounded sizes: those of an argument of forward, 1,3,224,224 of floats or int64:1,16 of another dtype; once for each argument. Without it those that the file declares, or of its bundled inputs',
  },
  ...EVAL_OPTION,
  ...OPS_OPTION,
} as const satisfies OptionTable

export const convert: Command = {
  synopsis: 'convert MODEL',
  get about() {
    return `Writes a model (${extensionsText()}) as a mobile module, or as a program of ExecuTorch.

The end of the name says as which, ${extensionsText(({ write }) => write !== undefined)}; without one of them it is a zip.
PyTorch's lite interpreter runs it, as far as it has the operators. Sizes of a .pt2 that are symbols stay so. A .pte is of ExecuTorch's
portable operators; what they cannot say is named.`
  },
  options: OPTIONS,

  async run(args) {
    const { values, positionals } = parse({ args, options: OPTIONS, allowPositionals: true })
    if (positionals.length !== 1) throw new UsageError(positionals.length === 0 ? 'name a model file' : 'expected one model file')
    if (values.output === undefined) throw new UsageError('name the file to write with -o')
    const [model] = positionals as [string]
    await loadOperators(values.ops)
    const { write, extension } = formatFor(values.output)
    if (values.shape !== undefined && extension !== '.pte') throw new UsageError('--shape goes with a name that ends in .pte')
    const rounding = roundingOf(values, extension)
    const examples = values.shape?.map((text) => {
      const { dtype = 'float32', sizes } = parseShape(text)
      return exampleTensor(dtype, sizes)
    })
    const states = new Map<ScriptObject, ObjectState>()
    const hooks = {
      runSetState: (setState: ObjectState['setState'], object: ScriptObject, state: ObjectState['state']): void => {
        states.set(object, { state, setState })
      },
    }
    const program = await during(`reading ${model}`, () => allSteps(readProgram(openProgram(model), hooks, {})))
    try {
      if (values.eval) setTraining(program.root, false, program.plainClasses)
      const layers = trainingOf(program)
      if (layers.length > 0) console.error(`warning: ${trainingText(model, layers, 'convert it with --eval, or load what is written so')}`)
      const counted = withExplicitCounts(program)
      const filled = new Map([...states].map(([object, { state, setState }]) => [object, { state, setState: counted.get(setState)! }]))
      const explicit = { ...program, functions: [...counted.values()] }
      const rounded = rounding === null ? null : withIntegerWeights(explicit, rounding.format, rounding.group)
      const content = write(
        { ...explicit, functions: rounded?.functions ?? explicit.functions },
        filled,
        examples === undefined ? {} : { args: examples },
      )
      await writeFile(values.output, content)
      const rounds = rounded === null ? '' : `, linear layers with weights of ${countsText(rounded.counts)}`
      reportBeside(values.output)(
        `${values.output}: ${(content.length / 1e6).toFixed(1)} MB, ${program.functions.length} functions${rounds}`,
      )
    } finally {
      program.close()
    }
  },
}

interface IntegerRounding {
  readonly format: IntegerFormat
  readonly group: number
}

/** What --weights and --group ask for; null for floats. Throws UsageError for formats that have no operators, and names of files that cannot hold them. */
function roundingOf(
  { weights, group }: { readonly weights?: string | undefined; readonly group?: string | undefined },
  extension: string,
): IntegerRounding | null {
  if (weights === undefined) {
    if (group !== undefined) throw new UsageError('--group goes with --weights')
    return null
  }
  if (weights !== 'int8' && weights !== 'int4') throw new UsageError(`--weights: expected int8 or int4, found ${weights}`)
  if (extension === '.pte')
    throw new UsageError('--weights goes with a name that ends in .ptl or .ff: programs of ExecuTorch have no such operators')
  if (weights === 'int8' && group !== undefined) throw new UsageError('--group goes with --weights int4')
  const size = group === undefined ? GROUPS[0]! : parseCount(group, '--group', 32)
  if (!GROUPS.includes(size)) throw new UsageError(`--group: expected ${GROUPS.join(', ')}, found ${group}`)
  return { format: weights, group: size }
}

/** `8 bits: 3, 4 bits: 12`. */
function countsText({ int8, int4 }: Readonly<Record<IntegerFormat, number>>): string {
  return `8 bits: ${int8}, of 4 bits: ${int4}`
}

/** The format that files of such a name are of; the first one for names of none. Throws UsageError for formats that are only read. */
function formatFor(output: string): ReturnType<typeof writableFormats>[number] {
  const writable = writableFormats()
  const extension = extname(output)
  const named = writable.find((format) => format.extension === extension)
  if (named === undefined && formats().some((format) => format.extension === extension))
    throw new UsageError(`expected a name that ends in ${extensionsText(({ write }) => write !== undefined)}, found ${output}`)
  return named ?? writable[0]!
}

import { incompatibility } from '../../engine/original.js'
import { Signature } from '../../compiler/record/signature.js'
import { type ByteSource, openSource } from '../../formats/containers/bytes.js'
import { OpenedFile } from '../../formats/containers/opened-file.js'
import { read as readPlansHeader, readSummaries } from '../../formats/ptlc/read.js'
import { readProgram } from '../../formats/read.js'
import { formatOf, formatReady, type PlanFormat, type ProgramFormat } from '../../formats/registry.js'
import type { ReadLimits } from '../../formats/reading/read-options.js'
import { stepByStep } from '../../formats/steps.js'
import type { FunctionCode } from '../../program/code.js'
import { graphsOf } from '../../program/data-flow.js'
import type { Program } from '../../program/program.js'
import { inputsOf, outputsOf } from '../../program/signature-info.js'
import { findOperator } from '../../runtime/operators/table/registry.js'
import { type Limits, READING_MILLISECONDS } from '../../runtime/limits.js'
import { TimeLimit } from '../../runtime/pace.js'
import { checkOptions, count, reading } from '../../runtime/tensor/check-arguments.js'
import { limitsTest } from '../limits-option.js'
import { atHand } from '../at-hand.js'
import type { ModelSource } from '../sources.js'
import { operatorsOf } from './operators.js'
import { byteSize, listParameters } from './parameters.js'
import type { MethodReport, ModelReport } from './report.js'
import { trainingOf } from './training.js'

/** How a model is looked at. */
export interface InspectOptions {
  /**
   * What that may take: LIMIT_EXCEEDED beyond. Without it the same as loading (docs/limits.md). Nothing of the file runs, so there are no instructions to count,
   * nor memory of tensors.
   */
  readonly limits?: Limits & ReadLimits
}

/**
 * What a model file holds. Nothing of it runs, and operators that this build lacks are named rather than refused. Throws INVALID_FILE for a
 * damaged file, UNSUPPORTED_FILE for one that is no model, with what to do.
 */
export async function inspectModel(model: ModelSource, options: InspectOptions = {}): Promise<ModelReport> {
  reading(() => checkOptions(options, { limits: limitsTest('inspectModel()', { objects: count }) }, 'inspectModel()'))
  const { limits } = options
  const content = await atHand(model)
  return reportOf(openSource(content), limits)
}

async function reportOf(source: ByteSource, limits: (Limits & ReadLimits) | undefined): Promise<ModelReport> {
  const time = new TimeLimit('inspecting the model', limits?.milliseconds ?? READING_MILLISECONDS)
  let format: ProgramFormat | PlanFormat
  let file: OpenedFile
  try {
    file = time.within(() => new OpenedFile(source))
    format = formatOf(file)
    await formatReady(format)
    if (format.holds === 'plans') return time.within(() => plansReport(source, format as PlanFormat))
  } catch (error) {
    source.close()
    throw error
  }
  // without a hook for __setstate__ nothing of the file is executed
  const program = await stepByStep(
    readProgram({ file, format }, {}, { onlyLooks: true, ...(limits === undefined ? {} : { limits }) }, time),
  )
  try {
    return time.within(() => programReport(source, format as ProgramFormat, program))
  } finally {
    program.close()
  }
}

function programReport({ size }: ByteSource, { extension, container }: ProgramFormat, program: Program): ModelReport {
  const operators = operatorsOf(program)
  const parameters = listParameters(program).map(({ name, tensor }) => ({
    name,
    dtype: tensor.dtype,
    shape: [...tensor.shape],
    bytes: byteSize(tensor),
  }))
  const methods = program.functions.filter(({ className }) => className === program.root.typeName)
  return {
    format: extension,
    container,
    bytes: size,
    bytecodeVersion: program.bytecodeVersion,
    operatorVersion: program.operatorVersion,
    className: program.root.typeName,
    methods: methods.map((fn) => methodReport(fn, program)),
    operators,
    missing: operators.filter(({ present }) => !present).map(({ name }) => name),
    training: trainingOf(program),
    parameters,
    parameterBytes: parameters.reduce((sum, { bytes }) => sum + bytes, 0),
    extraFiles: [...program.extraFiles].map(([name, bytes]) => ({ name, bytes: bytes.length })),
    graphs: graphsOf(program),
    layout: program.layout ?? null,
    compiled: null,
  }
}

function methodReport({ method, schema, code }: FunctionCode, { inputs, outputs, signatures }: Program): MethodReport {
  const said = signatures?.get(method) ?? (method === 'forward' ? { inputs, outputs } : {})
  return {
    name: method,
    inputs: said.inputs ?? (schema === null ? null : inputsOf(schema.args.slice(1))),
    outputs: said.outputs ?? (schema === null ? null : outputsOf(schema.returns)),
    instructions: code.length / 3,
  }
}

function plansReport(source: ByteSource, format: PlanFormat): ModelReport {
  try {
    const header = readPlansHeader(source)
    const { about } = header
    const lacking = new Map(about.missing.map(({ operator, methods }) => [operator, methods]))
    const operators = about.operators.map((name) => ({
      name,
      functions: 1,
      present: findOperator(name) !== undefined,
      methods: lacking.get(name) ?? [],
    }))
    const plans = readSummaries(header).map(({ method, example, kernels, placement }) => ({
      method,
      signature: Signature.of(example)?.toString() ?? 'objects',
      kernels: countOf(kernels),
      arenaBytes: placement.arenaBytes,
      outputBytes: placement.outputs.reduce((sum, size) => sum + size, 0),
    }))
    return {
      format: format.extension,
      container: format.container,
      bytes: source.size,
      bytecodeVersion: about.bytecodeVersion,
      operatorVersion: about.operatorVersion,
      className: null,
      methods: about.methods.map(({ name, arguments: list }) => ({ name, inputs: inputsOf(list), outputs: null, instructions: null })),
      operators,
      missing: about.missing.map(({ operator }) => operator),
      training: about.training.layers,
      parameters: [],
      parameterBytes: header.preamble.dataBytes,
      extraFiles: [],
      graphs: [],
      layout: null,
      compiled: { library: about.library, level: about.level, unusable: incompatibility(about), original: about.original, plans },
    }
  } finally {
    source.close()
  }
}

/** How often each name occurs, most frequent first. */
export function countOf(names: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return Object.fromEntries([...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1)))
}

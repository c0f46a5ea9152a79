import { basename } from 'node:path'
import type { FunctionCode } from '../../program/code.js'
import { disassemble } from '../../program/disassemble.js'
import { loadModelFile } from '../../formats/read.js'
import { labelOf } from '../../formats/registry.js'
import type { Program } from '../../program/program.js'
import type { ArgumentInfo } from '../../program/signature-info.js'
import { arenaPicture } from './arena-picture.js'
import { blockWeights, countBlocks } from './block-weights.js'
import { chooseInputs } from './choose-inputs.js'
import { loadOperators, OPS_OPTION } from './custom-operators.js'
import { readCompiled, replacementOf, whyUnusable } from './compiled-file.js'
import type { InputFiles } from './arguments.js'
import { loadModule, type LoadOptions, PtliteError, type Tensor } from '../index.js'
import { EVAL_OPTION, evalOf, WINOGRAD_OPTION, winogradOf } from './model-options.js'
import { formatBytes } from '../format-bytes.js'
import { describeTensor, methodText, section, trainingSection } from './format.js'
import { compiledReport, compiledText } from './inspect-compiled.js'
import { layoutSections } from './inspect-layout.js'
import { operatorsOf } from '../inspect/operators.js'
import { trainingOf } from '../inspect/training.js'
import { byteSize, listParameters, type Parameter } from '../inspect/parameters.js'
import type { OptionTable } from './options.js'
import { METHOD_OPTION, INPUT_OPTIONS, type Command, parseModelArguments, UsageError } from './usage.js'
import { reportBeside, writeFile } from './write-file.js'

const OPTIONS = {
  code: { type: 'boolean', default: false, help: 'also the instructions of every function' },
  plan: {
    type: 'boolean',
    default: false,
    help: 'instead: runs a method and shows its operators before and after each pass of the compiler, and for each convolution and linear layer how it is computed and why',
  },
  arena: {
    type: 'string',
    value: 'FILE.svg',
    help: 'instead, or with --plan: draws what the plan keeps in its arena, kernel call by kernel call',
  },
  json: { type: 'boolean', default: false, help: 'as JSON; of --arena the buffers' },
  ...INPUT_OPTIONS,
  ...METHOD_OPTION,
  ...EVAL_OPTION,
  ...WINOGRAD_OPTION,
  ...OPS_OPTION,
} as const satisfies OptionTable

export const inspect: Command = {
  synopsis: 'inspect MODEL',
  about: `Says what a model file holds. Nothing of it is run, but for --plan and --arena.

Methods with their schemas, the operators they call and which of them this build lacks, parameters, versions. Of a .ptlc file: version
and level it was compiled for and whether it can be used here, its plans with their kernels and memory, the model it was compiled from.
Of a program of ExecuTorch: what its methods call themselves and in the partitions of backends, its memory plan, constants and data.`,
  options: OPTIONS,
  notes: `Arguments, --method and --eval go with --plan and --arena; without any they are chosen as for run.`,

  async run(args) {
    const { model, inputs, values } = parseModelArguments(args, OPTIONS)
    const { plan, arena, method } = values
    const runs = plan || arena !== undefined
    if (!runs && inputs.files.length > 0) throw new UsageError('--input goes with --plan and --arena')
    if (!runs && values.shape !== undefined) throw new UsageError('--shape goes with --plan and --arena')
    if (!runs && values.eval) throw new UsageError('--eval goes with --plan and --arena')
    if (runs && values.code) throw new UsageError('--code goes without --plan and --arena')
    if (plan && values.json) throw new UsageError('--plan is text; --json goes without it')
    await loadOperators(values.ops)
    if (runs) {
      await showPlan({
        model,
        method,
        inputs,
        shapes: values.shape,
        plan,
        arena,
        json: values.json,
        load: { ...evalOf(values), ...winogradOf(values) },
      })
      return
    }
    const compiled = readCompiled(model)
    if (compiled !== null) {
      if (values.code) throw new PtliteError('INVALID_ARGUMENT', `${model} holds no instructions; --code needs ${compiled.about.original}`)
      const report = compiledReport(compiled, whyUnusable(model), replacementOf(model, compiled))
      console.log(values.json ? JSON.stringify(report) : compiledText(report))
      return
    }
    // without runSetState nothing of the file is executed
    const file = loadModelFile(model, {}, { onlyLooks: true })
    try {
      const report = reportOf(file, values.code)
      console.log(values.json ? JSON.stringify(report) : textOf(report, listParameters(file)))
    } finally {
      file.close()
    }
  },
}

interface PlanOptions {
  readonly model: string
  readonly method: string
  readonly inputs: InputFiles
  readonly shapes: readonly string[] | undefined
  readonly plan: boolean
  readonly arena: string | undefined
  readonly json: boolean
  readonly load: Pick<LoadOptions, 'eval' | 'winograd'>
}

async function showPlan({ model, method, inputs, shapes, plan, arena, json, load }: PlanOptions): Promise<void> {
  const module = await loadModule(model, { compile: 'off', ...load })
  try {
    const { args } = await chooseInputs(module, model, method, inputs, shapes)
    if (plan) console.log(module.explain(method, args))
    if (arena === undefined) return
    const use = module.arena(method, args)
    const report = reportBeside(arena)
    await writeFile(arena, arenaPicture(`${basename(model)}, ${method}`, use))
    const { buffers, kernels, arenaBytes, lowerBound, naiveBytes } = use
    const summary = `${buffers.length} buffers in ${kernels.length} kernel calls, arena ${formatBytes(arenaBytes)}`
    if (json) report(JSON.stringify(use))
    else report(`${arena}: ${summary}, lower bound ${formatBytes(lowerBound)}, sum ${formatBytes(naiveBytes)}`)
  } finally {
    module.dispose()
  }
}

type Report = ReturnType<typeof reportOf>

function reportOf(file: Program, withCode: boolean) {
  const methods = file.functions.filter((fn) => fn.className === file.root.typeName)
  const operators = operatorsOf(file)
  const parameters = listParameters(file)
  const products = new Set(blockWeights(file).map(({ tensor }) => tensor))
  return {
    kind: file.format,
    bytecodeVersion: file.bytecodeVersion,
    operatorVersion: file.operatorVersion,
    class: file.root.typeName,
    methods: methods.map((fn) => ({ name: fn.method, schema: schemaText(fn), instructions: fn.code.length / 3 })),
    functions: file.functions.length,
    ...(file.inputs === undefined ? {} : { inputs: file.inputs.map(argumentReport) }),
    ...(file.outputs === undefined ? {} : { outputs: file.outputs.map(argumentReport) }),
    operators,
    missing: operators.filter((op) => !op.present).map((op) => op.name),
    training: trainingOf(file),
    parameters: parameters.map(({ name, tensor }) => ({
      name,
      dtype: tensor.dtype,
      shape: [...tensor.shape],
      bytes: byteSize(tensor),
      ...zeroShare(tensor, products),
    })),
    parameterBytes: parameters.reduce((sum, { tensor }) => sum + byteSize(tensor), 0),
    extraFiles: [...file.extraFiles].map(([name, bytes]) => ({ name, bytes: bytes.length })),
    ...(file.layout === undefined ? {} : { layout: file.layout }),
    ...(withCode ? { code: file.functions.map((fn) => ({ name: fn.name, text: disassemble(fn) })) } : {}),
  }
}

/** An argument with its value as JSON has them. */
function argumentReport({ constant, type: kind, name, ...info }: ArgumentInfo) {
  return {
    name,
    kind,
    ...info,
    ...(constant === undefined ? {} : { constant: typeof constant === 'bigint' ? String(constant) : constant }),
  }
}

/** `x  float32[s0, 3]  s0: 2 to 8` */
function argumentRow({ name, kind, dtype, shape, constant }: ReturnType<typeof argumentReport>): string[] {
  if (shape === undefined) return [name, constant === undefined ? kind : `${kind} = ${JSON.stringify(constant)}`, '']
  const open = new Map(shape.filter(({ min, max }) => min !== max).map((size) => [size.text, size]))
  const ranges = [...open.values()].map(({ text, min, max }) => `${text}: ${max === null ? `${min} or more` : `${min} to ${max}`}`)
  return [name, `${dtype ?? kind}[${shape.map(({ text }) => text).join(', ')}]`, ranges.join(', ')]
}

/** Share of the blocks of a weight that hold zeros only, where there are any. Kernels count them: without a library nothing is said. */
function zeroShare(tensor: Tensor, products: ReadonlySet<Tensor>): { zeroBlocks?: number } {
  if (!products.has(tensor) || !tensor.storage.live) return {}
  const { blocks, zeros } = countBlocks(tensor)
  return zeros === 0 ? {} : { zeroBlocks: zeros / blocks }
}

function schemaText(fn: FunctionCode): string {
  return fn.schema === null ? `${fn.method}(...)` : methodText(fn.method, fn.schema.args.slice(1), fn.schema.returns)
}

function zeroText({ zeroBlocks }: { readonly zeroBlocks?: number }): string {
  return zeroBlocks === undefined ? '' : `${(100 * zeroBlocks).toFixed(1)} % zero blocks`
}

function textOf(report: Report, parameters: readonly Parameter[]): string {
  const sections = [
    `${report.class}\n${labelOf(report.kind)}, bytecode version ${report.bytecodeVersion}, operator version ${report.operatorVersion}`,
    section(
      'Methods',
      report.methods.map((m) => [m.schema, `${m.instructions} instructions`]),
    ),
    ...(report.inputs === undefined ? [] : [section('Inputs', report.inputs.map(argumentRow))]),
    ...(report.outputs === undefined ? [] : [section('Outputs', report.outputs.map(argumentRow))]),
    section(
      `Operators (${report.operators.length}${report.missing.length > 0 ? `, ${report.missing.length} missing` : ', all present'})`,
      report.operators.map((op) => [
        op.name,
        op.present ? '' : `MISSING${op.methods.length > 0 ? `, needed by ${op.methods.join(', ')}` : ''}`,
      ]),
    ),
    ...(report.training.length === 0
      ? []
      : [trainingSection('In training mode, which changes what is computed; load it with { eval: true }, or --eval', report.training)]),
    section(
      `Parameters (${parameters.length}, ${formatBytes(report.parameterBytes)})`,
      parameters.map(({ name, tensor }, i) => [
        name,
        describeTensor(tensor),
        formatBytes(byteSize(tensor)),
        zeroText(report.parameters[i]!),
      ]),
      [2],
    ),
  ]
  if (report.layout !== undefined) sections.push(...layoutSections(report.layout))
  if (report.extraFiles.length > 0)
    sections.push(
      section(
        'Extra files',
        report.extraFiles.map((f) => [f.name, formatBytes(f.bytes)]),
      ),
    )
  if (report.code !== undefined) sections.push(`Code\n${report.code.map((fn) => fn.text.replace(/^/gm, '  ')).join('\n\n')}`)
  return sections.join('\n\n')
}

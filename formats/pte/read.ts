import { damaged, guarded, unsupported } from '../../program/file-error.js'
import type { ReaderPart } from '../../program/reader-parts.js'
import { absent } from '../../runtime/error.js'
import * as features from '../../runtime/features.js'
import type { OpenedFile } from '../containers/opened-file.js'
import type { ParsedProgram, Reading } from '../reading/parsed.js'
import { analyse } from './analysis.js'
import { Attributes } from './attributes.js'
import { refusalsOf } from './backends.js'
import { openBundle } from './bundle.js'
import { SegmentedFile } from './container.js'
import { ProgramData } from './data.js'
import { kernelOf } from './kernels/index.js'
import { layoutOf } from './layout.js'
import { compileMethod } from './method.js'
import type { Instruction, Plan } from './plan.js'
import { readPlan } from './read-plan.js'
import { Field } from './schema.js'
import { statesOf } from './states.js'
import { testCaseMethods } from './test-cases.js'
import { type DelegateKernel, xnnpackKernel } from './xnnpack/kernel.js'
import type { Kernel } from './kernel.js'

const CLASS_NAME = '__torch__.ExecutorchProgram'
/** The instructions that programs are translated to are those of this bytecode version. */
const BYTECODE = 8
/** Operators mean what they do in PyTorch 2. */
const OPERATORS = 10

/**
 * Reads an ExecuTorch program (`.pte`), or one that is bundled with test cases (`.bpte`). Its methods become methods of an object that has their constants, weights and
 * buffers as attributes. Parts of it for XNNPACK are read as operators; methods that come to another backend say so when they are called.
 */
export function read({ source }: OpenedFile, { pool, budget, limits, data: others = [], onlyLooks = false }: Reading): ParsedProgram {
  const { file: whole, program: part, suites } = openBundle(source, budget)
  const parts = new Set<ReaderPart>()
  if (part !== whole) parts.add('test-cases')
  if (others.length > 0) parts.add('data-files')
  const file = SegmentedFile.program(part, budget, limits?.objects)
  const data = new ProgramData(file, part, others, budget)
  const version = file.root.uint32(Field.program.version)
  const plans = file.root.tables(Field.program.plans).map((table) => readPlan(table, data))
  if (plans.length === 0) throw damaged('the program has no methods')
  const attributes = new Attributes(CLASS_NAME, pool, data, budget)
  const refusals = refusalsOf(plans)
  if (!onlyLooks && plans.every((plan) => refusals.get(plan) !== null || plan.instructions.length === 0)) {
    const [refusal] = [...refusals.values()].filter((text) => text !== null)
    if (refusal !== undefined) throw unsupported(refusal)
  }
  const kernels = new Map<Plan, Map<number, DelegateKernel>>()
  const methods = plans.map((plan) =>
    guarded(`method '${plan.name}'`, () => {
      const delegates = new Map<number, DelegateKernel>()
      kernels.set(plan, delegates)
      const delegateOf = (index: number): Kernel => {
        if (!features.xnnpack) throw absent('the reader of graphs for XNNPACK', 'UNSUPPORTED_FILE')
        parts.add('xnnpack')
        const kernel = delegates.get(index) ?? xnnpackKernel(plan.delegates[index]!.payload(), data, budget, `${plan.name} ${index} `)
        delegates.set(index, kernel)
        return kernel
      }
      const kernelFor = (item: Instruction): Kernel | null =>
        item.kind === 'kernel' ? kernelOf(item.operator, parts) : item.kind === 'delegate' ? delegateOf(item.delegate) : null
      return analyse(refusals.get(plan) === null ? plan : { ...plan, instructions: [] }, kernelFor)
    }),
  )
  const states = statesOf(
    methods.filter(({ plan }) => refusals.get(plan) !== undefined),
    attributes,
  )
  const compiled = methods.map((analysis, i) =>
    compileMethod(analysis, {
      className: CLASS_NAME,
      attributes,
      states: states.get(analysis) ?? new Map(),
      budget,
      refusal: refusals.get(plans[i]!) ?? null,
    }),
  )
  const forward = compiled[plans.findIndex(({ name }) => name === 'forward')]
  return {
    bytecodeVersion: BYTECODE,
    operatorVersion: OPERATORS,
    functions: [
      ...compiled.map(({ code }) => code),
      ...(features.testCases ? testCaseMethods(suites, whole, plans, CLASS_NAME, attributes, budget) : []),
    ],
    extraFiles: new Map(),
    debug: undefined,
    parts,
    inputs: forward?.inputs,
    outputs: forward?.outputs,
    signatures: new Map(plans.map(({ name }, i) => [name, compiled[i]!])),
    layout: features.inspection
      ? layoutOf(plans, data, version, refusals, (plan, delegate) => kernels.get(plan)?.get(delegate)?.nodes)
      : undefined,
    readState: () => ({ root: attributes.root(), pending: [] }),
  }
}

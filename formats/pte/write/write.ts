import type { ObjectStates, WriteOptions } from '../../writing/program-writer.js'
import { ScriptModule } from '../../../interpreter/script-module.js'
import { guarded, unsupported } from '../../../program/file-error.js'
import { Opcode } from '../../../program/generated/opcodes.js'
import type { LinkedFunction } from '../../../program/linked.js'
import type { Program } from '../../../program/program.js'
import type { ArgumentInfo } from '../../../program/signature-info.js'
import { findOperator } from '../../../runtime/operators/table/registry.js'
import { isWritten } from '../../../runtime/operators/table/schema.js'
import { ScriptObject, Tuple, type Value } from '../../../runtime/tensor/value.js'
import { ConstantTable } from './constants.js'
import { argumentsFor, samplesOf, symbolsOf } from './examples.js'
import { type Examples, recordMethod, type RecordedMethod, releaseMethod, writeMethod } from './method.js'
import { serialize } from './serialize.js'
import { InitialState } from './state.js'

const METHOD = 'forward'
const BUNDLED = 'get_all_bundled_inputs'

/**
 * A program of ExecuTorch (`.pte`) of its portable operators: with the methods of a file that says what they take, with `forward` of another. Sizes are those that the file
 * declares, or of the arguments that are given or bundled with it. The methods run, to see what they compute. Throws UNSUPPORTED_FILE, saying why, for what ExecuTorch's
 * operators cannot say.
 */
export function writePte(program: Program, states: ObjectStates, { args }: WriteOptions = {}): Uint8Array {
  const script = linked(program, states)
  const { signatures } = program
  const names = args === undefined && signatures !== undefined ? [...signatures.keys()] : [METHOD]
  const initial = changesState(program) ? new InitialState(program.root) : null
  const methods = names.map((name) => {
    const fn = script.findMethod(program.root.typeName, name)
    if (fn === undefined) throw unsupported(`the model has no method '${name}', which a .pte file needs`)
    const inputs = signatures?.get(name)?.inputs ?? program.inputs
    return { fn, examples: args === undefined ? examplesOf(program, script, fn, inputs) : [() => args] }
  })
  const recorded = recordAll(methods, script, initial)
  try {
    const tables = { constants: new ConstantTable(), initial: new ConstantTable(), isShared: methods.length > 1 }
    return serialize(
      recorded.map((method) => writeMethod(method, tables)),
      tables,
      initial?.bytes ?? 0,
    )
  } finally {
    recorded.forEach(releaseMethod)
  }
}

/** Records all methods: once more where one changes what another was recorded to read as a constant. */
function recordAll(
  methods: readonly { readonly fn: LinkedFunction; readonly examples: Examples }[],
  script: ScriptModule,
  initial: InitialState | null,
): RecordedMethod[] {
  for (;;) {
    const before = initial?.changes ?? 0
    const recorded = methods.map(({ fn, examples }) => recordMethod(script, fn, examples, initial))
    if (methods.length === 1 || initial === null || initial.changes === before) return recorded
    recorded.forEach(releaseMethod)
  }
}

/** Whether code may write to what outlives a call: by attributes that are set, or operators that change tensors, or lists and dicts where attributes hold some. */
function changesState({ functions, root }: Program): boolean {
  const holds = holdsContainers(root)
  return functions.some(
    ({ code, operators }) =>
      operators.some(({ name, overload }) => /[^_]_$/.test(name) || (holds && changesArgument(name, overload))) ||
      code.some((word, at) => at % 3 === 0 && word === Opcode.SET_ATTR),
  )
}

function changesArgument(name: string, overload: string): boolean {
  const { schema } = findOperator(overload === '' ? name : `${name}.${overload}`) ?? {}
  return schema?.arguments.some(isWritten) === true
}

/** Whether an attribute of the module or of a part of it is a list or a dict. */
function holdsContainers(root: ScriptObject): boolean {
  const seen = new Set<Value>([root])
  for (const object of seen) {
    if (!(object instanceof ScriptObject)) continue
    if (object.slots.some((value) => Array.isArray(value) || value instanceof Map)) return true
    for (const value of object.slots) if (value instanceof ScriptObject) seen.add(value)
  }
  return false
}

function linked(program: Program, states: ObjectStates): ScriptModule {
  const script = new ScriptModule({}, new Uint8Array(0))
  script.link(program.functions, program.operatorVersion)
  for (const [object, { state, setState }] of states) script.setState(setState, object, state)
  // the caller closes the file
  script.complete({ ...program, close: () => undefined })
  return script
}

/** Arguments of a method: of the sizes that the file declares, or those that are bundled with it. */
function examplesOf(program: Program, script: ScriptModule, fn: LinkedFunction, inputs: readonly ArgumentInfo[] | undefined): Examples {
  if (inputs !== undefined) {
    return guarded('sizes of arguments', () => samplesOf(symbolsOf(inputs)).map((sizes) => () => argumentsFor(inputs, sizes)))
  }
  if (fn.source.schema?.args.length === 1) return [() => []]
  const bundled = script.findMethod(program.root.typeName, BUNDLED)
  const cases = bundled === undefined ? null : script.call(bundled, [])
  const first: Value | undefined = Array.isArray(cases) ? cases[0] : undefined
  if (first instanceof Tuple) return [() => first.items]
  throw unsupported('the file does not say of what sizes its arguments are, and has no bundled inputs; give --shape')
}

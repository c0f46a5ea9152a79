import type { ObjectStates, WriteOptions } from '../../writing/program-writer.js'
import { ScriptModule } from '../../../interpreter/script-module.js'
import { guarded, unsupported } from '../../../program/file-error.js'
import { Opcode } from '../../../program/generated/opcodes.js'
import type { LinkedFunction } from '../../../program/linked.js'
import type { Program } from '../../../program/program.js'
import type { ArgumentInfo } from '../../../program/signature-info.js'
import { Tuple, type Value } from '../../../runtime/tensor/value.js'
import { ConstantTable } from './constants.js'
import { argumentsFor, samplesOf, symbolsOf } from './examples.js'
import { type Examples, writeMethod } from './method.js'
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
  const tables = { constants: new ConstantTable(), initial: new ConstantTable() }
  const initial = changesState(program) ? new InitialState(program.root) : null
  const plans = names.map((name) => {
    const fn = script.findMethod(program.root.typeName, name)
    if (fn === undefined) throw unsupported(`the model has no method '${name}', which a .pte file needs`)
    const inputs = signatures?.get(name)?.inputs ?? program.inputs
    return writeMethod(script, fn, args === undefined ? examplesOf(program, script, fn, inputs) : [() => args], tables, initial)
  })
  if (plans.length > 1 && tables.initial.offsets.length > 1)
    throw unsupported('several methods that share what outlives their calls have no form; write one')
  return serialize(plans, tables)
}

/** Whether code may write to what outlives a call: by attributes that are set, or operators in place. */
function changesState({ functions }: Program): boolean {
  return functions.some(
    ({ code, operators }) =>
      operators.some(({ name }) => /[^_]_$/.test(name)) || code.some((word, at) => at % 3 === 0 && word === Opcode.SET_ATTR),
  )
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

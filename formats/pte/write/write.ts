import type { ObjectStates, WriteOptions } from '../../writing/program-writer.js'
import { ScriptModule } from '../../../interpreter/script-module.js'
import { guarded, unsupported } from '../../../program/file-error.js'
import type { LinkedFunction } from '../../../program/linked.js'
import type { Program } from '../../../program/program.js'
import type { ArgumentInfo } from '../../../program/signature-info.js'
import { Tuple, type Value } from '../../../runtime/tensor/value.js'
import { ConstantTable } from './constants.js'
import { argumentsFor, samplesOf, symbolsOf } from './examples.js'
import { type Examples, writeMethod } from './method.js'
import { serialize } from './serialize.js'

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
  const constants = new ConstantTable()
  const plans = names.map((name) => {
    const fn = script.findMethod(program.root.typeName, name)
    if (fn === undefined) throw unsupported(`the model has no method '${name}', which a .pte file needs`)
    const inputs = signatures?.get(name)?.inputs ?? program.inputs
    return writeMethod(script, fn, args === undefined ? examplesOf(program, script, fn, inputs) : [() => args], constants)
  })
  return serialize(plans, constants)
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

import { Float } from '../runtime/tensor/scalar.js'
import { ScriptObject, type Value } from '../runtime/tensor/value.js'
import { LONGEST_NAME } from './attributes.js'
import { CodeWalk } from './code-walk.js'
import { Opcode } from './generated/opcodes.js'
import { type LinkedFunction, type LinkedOperator, STATE_METHOD } from './linked.js'
import { modulesOf, TRAINING } from './training.js'
import * as features from '../runtime/features.js'

/** A module that is in training mode and goes by it. */
export interface TrainingLayer {
  /** Dotted name; empty for the root. */
  readonly name: string
  /** Its class, without what stands before it: `Dropout`. */
  readonly type: string
}

/** Arguments without which a call computes the same in both modes: how much is dropped. */
const SHARES: ReadonlySet<string> = new Set(['p', 'dropout', 'dropout_p'])

/** What is known of a value before anything runs. Objects and modes stay what they are from one turn of a loop to the next. */
type Known =
  | { readonly kind: 'object'; readonly object: ScriptObject; readonly name: string }
  /** `training` of a module that is in training mode. */
  | { readonly kind: 'mode'; readonly object: ScriptObject; readonly name: string }
  | { readonly kind: 'constant'; readonly value: Value }

/**
 * The modules in training mode whose `training` the methods of `root` read and go by, as their code says; nothing runs. Dropout of nothing is not
 * counted. Empty, after a look at the attributes, for a model that is not in training mode.
 */
export function layersInTraining(functions: readonly LinkedFunction[], root: ScriptObject, plain?: ReadonlySet<string>): TrainingLayer[] {
  if (!features.advice) return []
  const inTraining = new Set<ScriptObject>()
  for (const object of modulesOf(root, plain)) if (object.slots[object.names.indexOf(TRAINING)] === true) inTraining.add(object)
  return inTraining.size === 0 ? [] : new Search(functions, root, inTraining).layers()
}

/** What says so to people: `model.pt is in training mode, …`. */
export function trainingText(label: string, layers: readonly TrainingLayer[], advice = LEAVE): string {
  const shown = layers.slice(0, SHOWN).map(({ name, type }) => (name === '' ? type : `${name.slice(0, 100)} (${type.slice(0, 100)})`))
  const more = layers.length > SHOWN ? ` and ${layers.length - SHOWN} more` : ''
  return `${label} is in training mode, which changes what it computes: ${shown.join(', ')}${more}; ${advice}`
}

const SHOWN = 5
const LEAVE = 'load it with { eval: true } (--eval on the command line), or call module.eval()'

class Search extends CodeWalk<Known> {
  private readonly found = new Map<ScriptObject, TrainingLayer>()

  constructor(
    functions: readonly LinkedFunction[],
    private readonly root: ScriptObject,
    private readonly inTraining: ReadonlySet<ScriptObject>,
  ) {
    super(functions)
  }

  layers(): TrainingLayer[] {
    const { functions, root } = this
    for (const fn of functions)
      if (fn.source.className === root.typeName && !STATE_METHOD.test(fn.source.method))
        this.enter(fn, root, { kind: 'object', object: root, name: '' })
    this.followAll()
    return [...this.found.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** Notes that the code goes by values. */
  protected use(...values: readonly (Known | undefined)[]): void {
    for (const value of values) {
      if (value?.kind !== 'mode' || this.found.has(value.object)) continue
      const { typeName } = value.object
      this.found.set(value.object, { name: value.name, type: typeName.slice(typeName.lastIndexOf('.') + 1) })
    }
  }

  protected apply(
    { source, operators }: LinkedFunction,
    pc: number,
    values: readonly (Known | undefined)[],
  ): readonly (Known | undefined)[] | undefined {
    const [opcode, x] = [source.code[3 * pc]!, source.code[3 * pc + 1]!]
    // what the opposite of a mode decides is decided by the mode
    if (opcode === Opcode.__NOT__) return values
    const [self] = values
    if (self?.kind === 'object') {
      if (opcode === Opcode.CALL) this.enter(this.functions[x], self.object, self)
      else if (opcode === Opcode.INTERFACE_CALL) this.enter(this.methodOf(self.object, source.constants[x]), self.object, self)
    }
    const operator = opcode <= Opcode.OPN ? operators[x] : undefined
    if (operator === undefined || !dropsNothing(operator, values)) this.use(...values)
    return undefined
  }

  protected constant(value: Value | undefined): Known | undefined {
    return value === undefined ? undefined : { kind: 'constant', value }
  }

  protected attribute(of: Known | undefined, slot: number): Known | undefined {
    if (of?.kind !== 'object') return undefined
    const { object } = of
    const value = object.slots[slot]
    if (object.names[slot] === TRAINING) return this.inTraining.has(object) ? { ...of, kind: 'mode' } : undefined
    const name = `${of.name === '' ? '' : `${of.name}.`}${object.names[slot] ?? `slot${slot}`}`
    if (value instanceof ScriptObject && name.length < LONGEST_NAME) return { kind: 'object', object: value, name }
    return value instanceof Float ? { kind: 'constant', value } : undefined
  }

  protected isSame(a: Known, b: Known): boolean {
    if (a.kind === 'constant') return b.kind === 'constant' && Object.is(a.value, b.value)
    return a.kind === b.kind && a.object === b.object
  }
}

/** Whether the share that an operator drops is known to be 0. */
function dropsNothing({ entry }: LinkedOperator, values: readonly (Known | undefined)[]): boolean {
  return values.some((value, i) => {
    if (value?.kind !== 'constant' || !SHARES.has(entry?.schema.arguments[i]?.name ?? '')) return false
    return value.value instanceof Float ? value.value.value === 0 : value.value === 0
  })
}

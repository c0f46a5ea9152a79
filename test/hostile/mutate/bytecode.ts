import { OPCODE_NAMES } from '../../../runtime/interpreter/opcodes.js'
import type { Random } from '../random.js'
import { mutateItems, mutateValue, freshValue } from './pickle.js'
import { intOf, nodesOf, partsOf, pickleOf, type Pickled, textOf, treeOf, tupleOf } from './pickle-tree.js'

/** An operator of the table. */
export interface KnownOperator {
  readonly name: string
  readonly overload: string
  readonly args: number
  readonly returns: number
}

type Items = Pickled[]

/** The parts of a function, by their keys. */
interface FunctionParts {
  readonly name: Pickled | undefined
  readonly instructions: Items
  readonly operators: Items
  readonly constants: Items
  readonly types: Items
  /** The pair whose second item is the number of registers. */
  readonly registers: Items
  readonly schema: Pickled | undefined
}

const NAMES = OPCODE_NAMES.filter((name) => name !== '')
const TYPES = [
  'int', 'Tensor', 'List[int]', 'List[Tensor]', 'Dict[str, int]', 'Dict[int, Tensor]', 'Optional[Tensor]', 'Tuple[int, str]', 'Any', 'NoneType', '__torch__.M', 'float',
  '__torch__.N[NamedTuple, [[a, int], [b, Tensor]]]', 'List[', 'Union[int, None]', 'Device', 'complex', 'str', 'bool', `${'List['.repeat(100)}int${']'.repeat(100)}`, '',
] // prettier-ignore

/** The pickle of a program with one to three changes to one of its functions; null where the bytes are no such pickle. */
export function mutateBytecode(bytes: Buffer, random: Random, operators: readonly KnownOperator[]): Buffer | null {
  const root = treeOf(bytes)
  if (root?.kind !== 'tuple') return null
  const functions = root.items.map(functionOf).filter((fn) => fn !== null)
  if (functions.length === 0) return null
  const all = nodesOf(root)
  for (let changes = random.between(1, 3); changes > 0; changes--) {
    const fn = random.pick(functions)
    random.weighted(CHANGES)(fn, random, { operators, all, functions: root.items })
  }
  return pickleOf(root)
}

function functionOf(item: Pickled): FunctionParts | null {
  const [name, table, schema] = partsOf(item)
  const pairs = table === undefined ? [] : partsOf(table).map(partsOf)
  const [instructions, operators, constants, types] = pairs.map(([, value]) => (value === undefined ? undefined : partsOf(value)))
  const registers = pairs[4]
  if (item.kind !== 'tuple' || instructions === undefined || operators === undefined || constants === undefined) return null
  if (types === undefined || registers === undefined) return null
  return { name, instructions, operators, constants, types, registers, schema }
}

interface Surroundings {
  readonly operators: readonly KnownOperator[]
  readonly all: readonly Pickled[]
  readonly functions: Items
}

type Change = (fn: FunctionParts, random: Random, around: Surroundings) => void

const CHANGES: readonly (readonly [number, Change])[] = [
  [6, changeInstruction],
  [3, moveInstructions],
  [6, changeOperator],
  [4, changeConstant],
  [2, changeType],
  [1, changeRegisters],
  [2, changeSchema],
  [1, changeName],
  [1, (_, random, { functions, all }) => mutateItems(functions, random, () => random.pick(all))],
]

function changeInstruction({ instructions, operators, constants, registers }: FunctionParts, random: Random): void {
  if (instructions.length === 0) return
  const at = random.below(instructions.length)
  const [name, x, n] = partsOf(instructions[at]!)
  const limit = random.pick([operators.length, constants.length, instructions.length, 8])
  const number = (old: Pickled | undefined): Pickled =>
    intOf(random.once(2) ? random.below(limit + 1) : random.edge(old?.kind === 'int' ? Number(old.value) : 0))
  const parts: [Pickled, Pickled, Pickled] = [name ?? textOf('RET'), x ?? intOf(0), n ?? intOf(0)]
  const which = random.below(4)
  if (which === 0) parts[0] = textOf(random.pick(NAMES))
  else if (which < 3) parts[1] = number(x)
  else parts[2] = number(n)
  // a new tuple, since equal instructions may be one node
  instructions[at] = tupleOf(...parts)
  if (random.once(20)) changeRegisters({ registers }, random)
}

function moveInstructions({ instructions }: FunctionParts, random: Random): void {
  const at = random.below(instructions.length)
  const instruction = (): Pickled => tupleOf(textOf(random.pick(NAMES)), intOf(random.below(6)), intOf(random.below(4)))
  if (random.once(3)) instructions.splice(at, 0, instruction())
  else mutateItems(instructions, random, () => (instructions.length > 0 && random.once(2) ? random.pick(instructions) : instruction()))
}

function plainText(value: Pickled | undefined): string | null {
  return value?.kind === 'text' ? value.value.toString() : null
}

function changeOperator({ operators }: FunctionParts, random: Random, around: Surroundings): void {
  if (operators.length === 0) return
  const at = random.below(operators.length)
  const [name, overload, given] = partsOf(operators[at]!)
  const [oldName, oldOverload] = [plainText(name), plainText(overload)]
  const known = around.operators.find((each) => each.name === oldName && each.overload === oldOverload)
  if (random.once(4)) {
    const count = random.once(2) ? intOf(random.below(8)) : intOf(random.edge())
    operators[at] = tupleOf(name ?? textOf(''), overload ?? textOf(''), ...(random.once(6) ? [] : [count]))
    return
  }
  // one that takes and leaves as many values gets further
  const takes = given?.kind === 'int' ? Number(given.value) : known?.args
  const leaving = around.operators.filter((each) => each.returns === (known?.returns ?? 1))
  const taking = leaving.filter((each) => each.args === takes)
  const fitting = taking.length > 0 && !random.once(4) ? taking : leaving
  const other = random.pick(random.once(8) ? around.operators : fitting)
  const count = given ?? intOf(other.args)
  operators[at] = tupleOf(textOf(other.name), textOf(other.overload), random.once(4) ? intOf(other.args) : count)
}

function changeConstant({ constants }: FunctionParts, random: Random, { all }: Surroundings): void {
  if (constants.length === 0 || random.once(8)) mutateItems(constants, random, () => freshValue(random))
  else {
    const at = random.below(constants.length)
    const old = constants[at]!
    if (random.once(3)) constants[at] = random.once(3) ? random.pick(all) : freshValue(random)
    else if (old.kind === 'int') constants[at] = intOf(random.once(2) ? random.between(-4, 12) : random.edge64(old.value))
    else mutateValue(random.pick(nodesOf(old)), random, all)
  }
}

function changeType({ types }: FunctionParts, random: Random): void {
  if (types.length === 0) types.push(textOf(random.pick(TYPES)))
  else types[random.below(types.length)] = textOf(random.pick(TYPES))
}

/** Their number stands behind a name, which another change may have taken away. */
function changeRegisters({ registers }: Pick<FunctionParts, 'registers'>, random: Random): void {
  registers[Math.min(1, registers.length)] = intOf(random.edge(8))
}

function changeSchema({ schema, types }: FunctionParts, random: Random, { all }: Surroundings): void {
  if (schema === undefined) return
  const inner = nodesOf(schema)
  const node = random.pick(inner)
  if (node.kind === 'text' && random.once(2)) node.value = Buffer.from(random.pick(types.length > 0 ? TYPES : ['int']))
  else mutateValue(node, random, all)
}

function changeName({ name }: FunctionParts, random: Random): void {
  if (name?.kind !== 'text') return
  const text = name.value.toString()
  const className = text.slice(0, text.lastIndexOf('.'))
  name.value = Buffer.from(
    random.pick([`${className}.__setstate__`, `${className}.forward`, `${className}.__getstate__`, 'forward', '', `${className}.`]),
  )
}

import { Float } from '../../../runtime/tensor/scalar.js'
import type { Value } from '../../../runtime/tensor/value.js'
import { type Instruction, modelOf } from '../../module/model-writer.js'

const CONSTANTS: readonly Value[] = [1, 'a', new Float(0.5), true, null, 'helper', '{} of {}', 0, 3]
const [ONE, TEXT, FLOAT, TRUE, NONE, HELPER, FORMAT, ZERO, THREE] = CONSTANTS.map((_, i) => i) as [number, ...number[]]
const TYPES = [
  'int', 'str', 'List[int]', 'Dict[str, int]', 'Tuple[int, str]', 'Optional[Tensor]', 'Union[int, str]', 'float', 'Any', 'NoneType', 'Device', 'complex',
  'Tensor', '__torch__.M', '__torch__.N[NamedTuple, [[a, int], [b, str]]]', 'List[Dict[str, List[int]]]', 'bool', 'list', 'tuple', 'number',
] // prettier-ignore
const type = (name: string): number => TYPES.findIndex((each) => each.startsWith(name))

const op = (name: string, x = 0, n = 0): Instruction => [name, x, n]
const load = (...constants: readonly (number | undefined)[]): Instruction[] => constants.map((i) => op('LOADC', i))
const drop = op('DROP')
/** Self and the tensor; a register to use. */
const [SELF, TENSOR, OWN] = [1, 2, 3]

/** A value of each kind, which is asked what it is. */
const VALUES: readonly (readonly Instruction[])[] = [
  ...[ONE, TEXT, FLOAT, TRUE, NONE].map((constant) => load(constant)),
  [...load(ONE, THREE), op('LIST_CONSTRUCT', type('List[int]'), 2)],
  [op('LIST_CONSTRUCT', type('List[int]'), 0)],
  [...load(TEXT, ONE), op('DICT_CONSTRUCT', type('Dict'), 2)],
  [...load(ONE, TEXT), op('TUPLE_CONSTRUCT', 2)],
  [...load(ONE, TEXT), op('NAMED_TUPLE_CONSTRUCT', type('__torch__.N'), 2)],
  [op('LOAD', TENSOR)],
  [op('LOAD', TENSOR), op('DEVICE')],
  [op('CREATE_OBJECT', type('__torch__.M'))],
  [op('UN_INITIALIZED')],
]

const CONTAINERS: readonly Instruction[] = [
  ...[...load(ONE, THREE), op('LIST_CONSTRUCT', type('List[int]'), 2), op('LIST_UNPACK', 2), drop, drop],
  ...[...load(ONE, TEXT, THREE), op('TUPLE_CONSTRUCT', 3), op('TUPLE_SLICE', 1, 2), ...load(ZERO), op('TUPLE_INDEX'), drop],
  ...[...load(TEXT, ONE), op('DICT_CONSTRUCT', type('Dict'), 2), ...load(TEXT), op('DICT_INDEX'), drop],
  ...[op('CREATE_OBJECT', type('__torch__.M')), op('STORE', OWN), op('LOAD', OWN), ...load(ONE), op('SET_ATTR', 0)],
  ...[op('LOAD', OWN), op('GET_ATTR', 0), drop, op('LOAD', OWN), op('LOAD', OWN), op('__IS__'), op('__NOT__'), drop],
  ...[...load(NONE), op('MOVE', OWN), op('__ISNOT__'), drop],
]

const CALLS: readonly Instruction[] = [
  ...[...load(FORMAT, ONE, TEXT), op('FORMAT', 3), op('UNCHECKED_CAST', type('str')), drop],
  ...[...load(ZERO, TEXT), op('WARN', 0)],
  ...[op('LOAD', TENSOR), op('DTYPE'), drop, op('LOAD', TENSOR), op('DIM'), drop, op('LOAD', TENSOR), op('IS_CUDA'), drop],
  ...[...load(FLOAT), op('NUM_TO_TENSOR'), drop],
  ...[
    op('LOAD', SELF),
    op('LOAD', TENSOR),
    op('CALL', 1),
    drop,
    op('LOAD', SELF),
    op('LOAD', TENSOR),
    op('INTERFACE_CALL', HELPER, 2),
    drop,
  ],
]

/** A module that uses most instructions and types: mutants of it need only change a number to do something else. */
export function instructionsModel(): Buffer {
  // three of the types at a time
  const ask = (first: number): Instruction[] => [op('LOAD', OWN), op('ISINSTANCE', first % (TYPES.length - 2), 3), drop]
  const asked = VALUES.flatMap((value, i) => [...value, op('STORE', OWN), ...[0, 5, 11, 16].flatMap((first) => ask(first + i))])
  const method = (name: string, code: readonly Instruction[]) => ({
    name,
    instructions: [op('STOREN', SELF, 2), ...code, op('MOVE', TENSOR), op('RET')],
    operators: [['aten::neg', 1], ['aten::add.int', 2]] as const,
    constants: CONSTANTS,
    types: TYPES,
    registers: 4,
  }) // prettier-ignore
  const forward = [...CONTAINERS, ...CALLS, ...load(ZERO, THREE), op('OP', 1), drop]
  return Buffer.from(
    modelOf([method('forward', forward), method('helper', [op('LOAD', TENSOR), op('OP', 0), op('STORE', TENSOR)]), method('asks', asked)]),
  )
}

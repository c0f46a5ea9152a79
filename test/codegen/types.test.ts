import t from 'tap'
import { parseType } from '../../codegen/schema/parser.js'
import { typescriptType } from '../../codegen/types/typescript.js'
import { unboxing } from '../../codegen/types/unboxing.js'
import type { PtliteError } from '../../runtime/error.js'
import { setOperatorNames } from '../../runtime/operators/table/names.js'
import * as unbox from '../../runtime/operators/table/unbox.js'
import { Float } from '../../runtime/tensor/scalar.js'
import { CustomObject, Device, type Stack, Tuple, type Value } from '../../runtime/tensor/value.js'
import { Storage } from '../../runtime/tensor/storage.js'
import { empty } from '../../runtime/tensor/tensor.js'

/** A type, its TypeScript type, values with what they become, values that are refused with what the message calls them. */
type Row = readonly [
  type: string,
  typescript: string,
  accepts: readonly (readonly [unknown, unknown])[],
  refuses: readonly (readonly [unknown, string])[],
]

const tensor = empty([2, 3], 6)
const other = empty([], 4)
const storage = Storage.borrow(0, 0, null)
const conv = new CustomObject('quantized.Conv2dPackedParamsBase', null)
const dict = new Map<string, Value>([['a', 1]])
const items: Value[] = [1, 'x']
const shown = 'a float32 tensor of shape [2, 3]'

const same = (value: unknown) => [value, value] as const
const none = same(null)

const ints = (size: number): Row => [
  `int[${size}]`,
  'number[]',
  [same(new Array(size).fill(4)), [7, new Array(size).fill(7)], same([]), [new Tuple([1, 2n]), [1, 2]]],
  [
    [null, 'None'],
    [[1, 1.5], 'float 1.5'],
    ['3', 'str "3"'],
    [true, 'bool true'],
    [new Float(2), 'float 2'],
  ],
]
const flags = (size: number): Row => [
  `bool[${size}]`,
  'boolean[]',
  [
    same(new Array(size).fill(true)),
    [false, new Array(size).fill(false)],
    [new Tuple(new Array<Value>(size).fill(true)), new Array(size).fill(true)],
  ],
  [
    [new Array(size + 1).fill(true), `list of ${size + 1}`],
    [[], 'list of 0'],
    [new Array(size).fill(1), 'int 1'],
    [null, 'None'],
  ],
]
const tensors = (type: string): Row => [
  type,
  'Tensor',
  [same(tensor), same(other)],
  [
    [null, 'None'],
    [3, 'int 3'],
    [[tensor], 'list of 1'],
  ],
]
const names: Row[2] = [same(['N', 'C']), [new Tuple(['N']), ['N']], same([])]

/** Every type of the appendix of PyTorch's RFC 0020, in its order. */
const APPENDIX: readonly Row[] = [
  ['Device', 'Device', [['cpu', new Device('cpu')], ['cuda:1', new Device('cuda', 1)], same(new Device('cpu'))], [['gpu!', 'str "gpu!"'], [0, 'int 0'], [null, 'None']]],
  ['Device?', 'Device | null', [none, ['cpu', new Device('cpu')]], [[1, 'int 1']]],
  ['Dimname', 'string', [same('N'), same('*')], [[0, 'int 0'], [null, 'None']]],
  ['Dimname[1]', 'string[]', [...names, ['N', ['N']]], [[0, 'int 0'], [[0], 'int 0'], [null, 'None']]],
  ['Dimname[]', 'string[]', names, [['N', 'str "N"'], [[null], 'None']]],
  ['Dimname[]?', 'string[] | null', [none, ...names], [['N', 'str "N"']]],
  ['Generator?', 'RandomGenerator | null', [none], [[1, 'int 1'], [tensor, shown]]],
  ['Layout?', 'number | null', [none, ['strided', 0], ['sparse_coo', 1], same(0)], [['dense', 'str "dense"'], [true, 'bool true']]],
  ['MemoryFormat', 'number', [['contiguous', 0], ['preserve_format', 1], ['channels_last', 2], ['channels_last_3d', 3], same(2)], [['nhwc', 'str "nhwc"'], [null, 'None']]],
  ['MemoryFormat?', 'number | null', [none, ['channels_last', 2]], [['nhwc', 'str "nhwc"']]],
  ['Scalar', 'Scalar', [same(2), same(2n ** 60n), same(true), same(new Float(2)), [2.5, new Float(2.5)]], [['1', 'str "1"'], [tensor, shown], [null, 'None']]],
  ['Scalar?', 'Scalar | null', [none, same(2), [0.5, new Float(0.5)]], [['1', 'str "1"']]],
  ['ScalarType', 'DType', [['float32', 6], same(4)], [[null, 'None'], [tensor, shown]]],
  ['ScalarType?', 'DType | null', [none, ['bool', 11]], [[true, 'bool true']]],
  ['Scalar[]', 'Scalar[]', [[[1, 0.5, true], [1, new Float(0.5), true]], [new Tuple([1]), [1]]], [[1, 'int 1'], [['a'], 'str "a"']]],
  ['Storage', 'Storage', [same(storage)], [[tensor, shown], [null, 'None']]],
  ['Stream', 'Int', [same(3), same(2n ** 60n)], [['s', 'str "s"'], [null, 'None']]],
  ...['Tensor', 'Tensor(a!)'].map(tensors),
  ['Tensor(a!)[]', 'Tensor[]', [same([tensor]), same([])], [[[tensor, 1], 'int 1 at index 1'], [tensor, shown]]],
  ...['Tensor(a)', 'Tensor(b!)', 'Tensor(c!)', 'Tensor(d!)', 'Tensor(a -> *)'].map(tensors),
  ['Tensor?', 'Tensor | null', [none, same(tensor)], [['x', 'str "x"']]],
  ['Tensor?[]', '(Tensor | null)[]', [same([null, tensor]), same([]), [new Tuple([tensor]), [tensor]]], [[[1], 'int 1 at index 0'], [null, 'None']]],
  ['Tensor[]', 'Tensor[]', [same([tensor, other]), [new Tuple([tensor]), [tensor]]], [[[tensor, null], 'None at index 1'], [tensor, shown]]],
  ['bool', 'boolean', [same(true), same(false)], [[1, 'int 1'], [null, 'None']]],
  ['bool?', 'boolean | null', [none, same(true)], [[0, 'int 0']]],
  ...[2, 3, 4].map(flags),
  ['float', 'number', [[new Float(0.5), 0.5], [2, 2], [2n ** 60n, 2 ** 60]], [[true, 'bool true'], ['1', 'str "1"'], [null, 'None']]],
  ['float?', 'number | null', [none, [new Float(1), 1]], [['1', 'str "1"']]],
  ['float[]?', 'number[] | null', [none, [[new Float(1), 2], [1, 2]], same([])], [[new Float(1), 'float 1'], [[true], 'bool true']]],
  ['int', 'number', [same(3), same(-1), [2n ** 63n - 1n, 2 ** 63]], [[1.5, 'float 1.5'], [new Float(1), 'float 1'], [true, 'bool true'], [null, 'None']]],
  ['int?', 'number | null', [none, same(3)], [[new Float(1), 'float 1']]],
  ints(1),
  ['int[1]?', 'number[] | null', [none, [3, [3]], same([3])], [['3', 'str "3"']]],
  ints(2),
  ['int[2]?', 'number[] | null', [none, [3, [3, 3]], same([3, 4])], [[[1, null], 'None']]],
  ...[3, 4, 5, 6].map(ints),
  ['int[]', 'number[]', [same([1, 2, 3]), same([]), [new Tuple([1]), [1]]], [[3, 'int 3'], [[1, 'a'], 'str "a"'], [null, 'None']]],
  ['int[]?', 'number[] | null', [none, same([1])], [[3, 'int 3']]],
  ['str', 'string', [same('a'), same('')], [[1, 'int 1'], [null, 'None']]],
  ['str?', 'string | null', [none, same('a')], [[1, 'int 1']]],
] // prettier-ignore

/** What PyTorch registers outside native_functions.yaml takes besides. */
const OTHERS: readonly Row[] = [
  ['SymInt[]', 'number[]', [same([1, 2])], [[3, 'int 3']]],
  ['Any', 'Value', [none, same('a'), same(items), [0.5, new Float(0.5)], same(1)], []],
  ['t', 'Value', [none, same(dict), same(tensor)], []],
  ['t[]', 'Value[]', [same(items)], [[new Tuple([]), 'tuple of 0'], [null, 'None']]],
  ['(int, str)[]', 'Value[]', [same([new Tuple([1, 'a'])])], [[1, 'int 1']]],
  ['Tensor[][]', 'Value[]', [same([[tensor]])], [[tensor, shown]]],
  ['Dict(str, t)', 'Map<DictKey, Value>', [same(dict)], [[[], 'list of 0'], [null, 'None']]],
  ['(int, str)', 'Tuple', [same(new Tuple([1, 'a']))], [[[1, 'a'], 'list of 2']]],
  ['__torch__.torch.classes.quantized.Conv2dPackedParamsBase', 'CustomObject', [same(conv)], [[null, 'None'], [tensor, shown]]],
  ['__torch__.torch.classes.rnn.CellParamsBase[]', 'CustomObject[]', [same([conv])], [[conv, 'quantized.Conv2dPackedParamsBase']]],
] // prettier-ignore

/** Under the Builtin key ints are exact and lists go through by reference. */
const BUILTIN: readonly Row[] = [
  ['int', 'Int', [same(3), same(2n ** 63n - 1n)], [[true, 'bool true'], [1.5, 'float 1.5']]],
  ['int?', 'Int | null', [none, same(2n ** 60n)], [['1', 'str "1"']]],
  ['int[]', 'Value[]', [same(items)], [[3, 'int 3']]],
  ['float[]', 'Value[]', [same([new Float(1)])], [[null, 'None']]],
  ['t[](a!)', 'Value[]', [same(items)], [[new Tuple([]), 'tuple of 0']]],
  ['Tensor[]', 'Tensor[]', [same([tensor])], [[[1], 'int 1 at index 0']]],
  ['float', 'number', [[new Float(1), 1]], [['1', 'str "1"']]],
] // prettier-ignore

type Helper = (s: Stack, arg: number, ...extra: (string | number)[]) => unknown
const helpers = unbox as unknown as Record<string, Helper>

/** Unboxes `value` as the wrapper of `test::op(int first, TYPE x)` would. */
function unboxed(type: string, builtin: boolean, value: unknown): unknown {
  const schema = (name: string, text: string) => ({
    name,
    type: text,
    alias: null,
    annotatedType: text,
    kwargOnly: false,
    isOut: false,
    defaultValue: undefined,
  })
  const args = [schema('first', 'int'), schema('x', type)]
  setOperatorNames({ nameAt: () => 'test::op', schemaAt: () => ({ arguments: args, isVararg: false, returns: [], isVarret: false }) })
  const stack: Stack = { values: [1, value as Value], top: 2 }
  unbox.take(stack, 2, 0)
  const { helper, extra } = unboxing(parseType(type), { builtin, complex: false })
  return helpers[helper]!(stack, 1, ...extra)
}

for (const [title, builtin, rows] of [
  ["the types of the RFC's appendix", false, APPENDIX],
  ['the types of builtins and classes', false, OTHERS],
  ['under the Builtin key', true, BUILTIN],
] as const) {
  await t.test(title, (t) => {
    for (const [type, typescript, accepts, refuses] of rows) {
      t.equal(typescriptType(parseType(type), { builtin, complex: false }), typescript, type)
      for (const [value, expected] of accepts) t.strictSame(unboxed(type, builtin, value), expected, `${type} takes ${String(value)}`)
      for (const [value, found] of refuses) {
        try {
          unboxed(type, builtin, value)
          t.fail(`${type} takes ${found}`)
        } catch (error) {
          t.equal((error as Error).message, `test::op: 'x' must be ${type}, found ${found}`)
          t.equal((error as PtliteError).code, 'INVALID_ARGUMENT')
        }
      }
    }
    t.end()
  })
}

await t.test('lists and dicts go through by reference where no element changes', (t) => {
  const list = [1, 2]
  t.equal(unboxed('int[]', false, list), list)
  t.equal(unboxed('t[]', false, items), items)
  t.equal(unboxed('int[]', true, items), items)
  t.equal(unboxed('Dict(str, t)', false, dict), dict)
  t.end()
})

await t.test('dtype, layout, device and pin_memory are gathered', (t) => {
  const stack: Stack = { values: ['float64', null, 'cpu', false], top: 4 }
  unbox.take(stack, 4, 0)
  t.strictSame(unbox.asOptions(stack, 0), { dtype: 7, layout: null, device: new Device('cpu'), pinMemory: false })
  t.end()
})

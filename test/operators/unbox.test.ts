import t from 'tap'
import { setOperatorNames } from '../../runtime/operators/table/names.js'
import type { OperatorSchema, SchemaArgument } from '../../runtime/operators/table/schema.js'
import * as unbox from '../../runtime/operators/table/unbox.js'
import { CustomObject, Device, RandomGenerator, type Stack, Tuple, type Value } from '../../runtime/tensor/value.js'
import { complex, Float } from '../../runtime/tensor/scalar.js'

const argument = (name: string, type: string): SchemaArgument => ({
  name,
  type,
  alias: null,
  annotatedType: type,
  kwargOnly: false,
  isOut: false,
  defaultValue: undefined,
})
const schema: OperatorSchema = {
  arguments: [argument('self', 'Tensor'), argument('dims', 'int[]')],
  isVararg: false,
  returns: [],
  isVarret: false,
}
setOperatorNames({ nameAt: () => 'aten::test.op', schemaAt: () => schema })

type Rule = (s: Stack, arg: number, size?: number) => unknown

/** A stack whose arguments `values` were just taken. */
function taken(...values: Value[]): Stack {
  const stack: Stack = { values, top: values.length }
  unbox.take(stack, values.length, 0)
  return stack
}

await t.test('each rule takes its type and plain values of the API', (t) => {
  const object = new CustomObject('quantized.LinearPackedParamsBase', null)
  const generator = new RandomGenerator()
  const cases: [Rule, Value, unknown][] = [
    [unbox.asInt, 3, 3],
    [unbox.asInt, 9223372036854775807n, 2 ** 63],
    [unbox.asLong, 9223372036854775807n, 9223372036854775807n],
    [unbox.asFloat, new Float(2), 2],
    [unbox.asFloat, 2, 2],
    [unbox.asFloatOrNull, null, null],
    [unbox.asScalar, 2, 2],
    [unbox.asScalar, true, true],
    [unbox.asScalar, 2.5, new Float(2.5)],
    [unbox.asScalar, new Float(2), new Float(2)],
    [unbox.asDType, 'float32', 6],
    [unbox.asDType, 11, 11],
    [unbox.asDTypeOrNull, null, null],
    [unbox.asLayout, 'strided', 0],
    [unbox.asMemoryFormat, 'channels_last', 2],
    [unbox.asMemoryFormatOrNull, 1, 1],
    [unbox.asDevice, 'cuda:1', new Device('cuda', 1)],
    [unbox.asDevice, new Device('cpu'), new Device('cpu')],
    [unbox.asGeneratorOrNull, null, null],
    [unbox.asGenerator, generator, generator],
    [unbox.asComplex, complex(1, 2), complex(1, 2)],
    [unbox.asComplex, 3, complex(3, 0)],
    [unbox.asAnyScalar, complex(1, 2), complex(1, 2)],
    [unbox.asAnyScalar, 2, 2],
    [unbox.asInts, [1, 2], [1, 2]],
    [unbox.asInts, new Tuple([1, 2n]), [1, 2]],
    [unbox.asFloats, [new Float(1), 2], [1, 2]],
    [unbox.asBools, [true], [true]],
    [unbox.asStrs, ['a'], ['a']],
    [unbox.asScalars, [1, new Float(1)], [1, new Float(1)]],
    [unbox.asCustom, object, object],
    [unbox.asAny, 0.5, new Float(0.5)],
    [unbox.asAny, 1, 1],
  ]
  for (const [rule, value, expected] of cases) t.strictSame(rule(taken(value), 0), expected, rule.name)
  t.strictSame(unbox.asInts(taken(2), 0, 3), [2, 2, 2], 'a single int for int[3]')
  t.strictSame(unbox.asOptions(taken('float64', null, 'cpu', false), 0), {
    dtype: 7,
    layout: null,
    device: new Device('cpu'),
    pinMemory: false,
  })
  t.end()
})

await t.test('lists and dicts go through by reference', (t) => {
  const list: Value[] = [1, new Float(2)]
  t.equal(unbox.asList(taken(list), 0), list)
  const ints: Value[] = [1, 2]
  t.equal(unbox.asInts(taken(ints), 0), ints)
  const dict = new Map<string, Value>()
  t.equal(unbox.asDict(taken(dict as Map<never, Value>), 0), dict)
  t.end()
})

await t.test('a wrong type names operator, argument, expected and found', (t) => {
  const cases: [() => unknown, string][] = [
    [() => unbox.asTensor(taken(3), 0), "aten::test.op: 'self' must be Tensor, found int 3"],
    [() => unbox.asTensorOrNull(taken('x'), 0), 'aten::test.op: \'self\' must be Tensor, found str "x"'],
    [() => unbox.asTensors(taken([1]), 0), "aten::test.op: 'self' must be Tensor, found int 1 at index 0"],
    [() => unbox.asInts(taken(null, [1, new Float(2)]), 1), "aten::test.op: 'dims' must be int[], found float 2"],
    [() => unbox.asInts(taken(null, 3), 1), "aten::test.op: 'dims' must be int[], found int 3"],
    [() => unbox.asInts(taken(null, null), 1), "aten::test.op: 'dims' must be int[], found None"],
    [() => unbox.asInt(taken(2.5), 0), "'self' must be Tensor, found float 2.5"],
    [() => unbox.asInt(taken(true), 0), 'found bool true'],
    [() => unbox.asBool(taken(1), 0), 'found int 1'],
    [() => unbox.asScalar(taken('1'), 0), 'found str "1"'],
    [() => unbox.asList(taken(new Tuple([])), 0), 'found tuple of 0'],
    [() => unbox.asDict(taken([]), 0), 'found list of 0'],
    [() => unbox.asDevice(taken('gpu!'), 0), 'found str "gpu!"'],
    [() => unbox.asMemoryFormat(taken('nhwc'), 0), 'found str "nhwc"'],
    [() => unbox.asDType(taken('float'), 0), "unknown dtype 'float'"],
    [() => unbox.asGenerator(taken(1), 0), 'found int 1'],
    // a class of a file may have any name
    [() => unbox.asGenerator(taken(new CustomObject('Generator', null)), 0), 'found Generator'],
    [() => unbox.asScalar(taken(complex(1, -2)), 0), 'found complex (1-2j)'],
    [() => unbox.asComplex(taken('1'), 0), 'found str "1"'],
    [() => unbox.asCustom(taken(null), 0), 'found None'],
  ]
  for (const [call, message] of cases) {
    try {
      call()
      t.fail(`no error, expected ${message}`)
    } catch (error) {
      t.match(error, { name: 'PtliteError', code: 'INVALID_ARGUMENT' })
      t.ok((error as Error).message.includes(message), `${(error as Error).message} says ${message}`)
    }
  }
  t.end()
})

await t.test('varargs', (t) => {
  const stack: Stack = { values: ['below', 'a', 1, 2, 3], top: 5 }
  const count = unbox.takeVarargs(stack, 1, 0)
  t.equal(count, 3)
  t.equal(stack.top, 1)
  t.equal(unbox.asStr(stack, 0), 'a')
  t.same(unbox.rest(stack, 1, count), [1, 2])
  t.throws(() => unbox.takeVarargs({ values: [0], top: 1 }, 1, 0), { message: 'aten::test.op: expected at least 1 inputs, found int 0' })
  t.end()
})

import t from 'tap'
import { parseType } from '../../codegen/schema/parser.js'
import { typescriptType } from '../../codegen/types/typescript.js'
import { unboxing } from '../../codegen/types/unboxing.js'
import * as unbox from '../../runtime/operators/unbox.js'

/** Every type of PyTorch's native_functions.yaml, and the rule and TypeScript type of each. */
const TYPES: readonly [string, string, string][] = [
  ['Device', 'asDevice', 'Device'],
  ['Device?', 'asDeviceOrNull', 'Device | null'],
  ['Dimname', 'asStr', 'string'],
  ['Dimname[1]', 'asStrs', 'string[]'],
  ['Dimname[]', 'asStrs', 'string[]'],
  ['Dimname[]?', 'asStrsOrNull', 'string[] | null'],
  ['Generator?', 'asGenerator', 'unknown'],
  ['Layout?', 'asLayoutOrNull', 'number | null'],
  ['MemoryFormat', 'asMemoryFormat', 'number'],
  ['MemoryFormat?', 'asMemoryFormatOrNull', 'number | null'],
  ['Scalar', 'asScalar', 'Scalar'],
  ['Scalar?', 'asScalarOrNull', 'Scalar | null'],
  ['ScalarType', 'asDType', 'DType'],
  ['ScalarType?', 'asDTypeOrNull', 'DType | null'],
  ['Scalar[]', 'asScalars', 'Scalar[]'],
  ['Storage', 'asAny', 'Value'],
  ['Stream', 'asAny', 'Value'],
  ['Tensor', 'asTensor', 'Tensor'],
  ['Tensor(a!)', 'asTensor', 'Tensor'],
  ['Tensor(a!)[]', 'asTensors', 'Tensor[]'],
  ['Tensor(a)', 'asTensor', 'Tensor'],
  ['Tensor(a -> *)', 'asTensor', 'Tensor'],
  ['Tensor?', 'asTensorOrNull', 'Tensor | null'],
  ['Tensor?[]', 'asOptionalTensors', '(Tensor | null)[]'],
  ['Tensor[]', 'asTensors', 'Tensor[]'],
  ['bool', 'asBool', 'boolean'],
  ['bool?', 'asBoolOrNull', 'boolean | null'],
  ['bool[3]', 'asBools', 'boolean[]'],
  ['float', 'asFloat', 'number'],
  ['float?', 'asFloatOrNull', 'number | null'],
  ['float[]?', 'asFloatsOrNull', 'number[] | null'],
  ['int', 'asInt', 'number'],
  ['int?', 'asIntOrNull', 'number | null'],
  ['int[1]', 'asInts', 'number[]'],
  ['int[2]?', 'asIntsOrNull', 'number[] | null'],
  ['int[6]', 'asInts', 'number[]'],
  ['int[]', 'asInts', 'number[]'],
  ['int[]?', 'asIntsOrNull', 'number[] | null'],
  ['SymInt[]', 'asInts', 'number[]'],
  ['str', 'asStr', 'string'],
  ['str?', 'asStrOrNull', 'string | null'],
  ['Any', 'asAny', 'Value'],
  ['t[]', 'asList', 'Value[]'],
  ['(int, str)[]', 'asList', 'Value[]'],
  ['Tensor[][]', 'asList', 'Value[]'],
  ['Dict(str, t)', 'asDict', 'Map<DictKey, Value>'],
  ['__torch__.torch.classes.quantized.Conv2dPackedParamsBase', 'asCustom', 'CustomObject'],
  ['__torch__.torch.classes.rnn.CellParamsBase[]', 'asCustoms', 'CustomObject[]'],
]

/** Under the Builtin key ints are exact and lists go through by reference. */
const BUILTIN: readonly [string, string, string][] = [
  ['int', 'asLong', 'Int'],
  ['int?', 'asLongOrNull', 'Int | null'],
  ['int[]', 'asList', 'Value[]'],
  ['float[]', 'asList', 'Value[]'],
  ['t[](a!)', 'asList', 'Value[]'],
  ['Tensor[]', 'asTensors', 'Tensor[]'],
  ['float', 'asFloat', 'number'],
]

await t.test('every type has an unboxing rule that exists', (t) => {
  const exported = new Set(Object.keys(unbox))
  for (const [builtin, rows] of [
    [false, TYPES],
    [true, BUILTIN],
  ] as const) {
    for (const [text, helper, type] of rows) {
      const parsed = parseType(text)
      t.equal(unboxing(parsed, { builtin }).helper, helper, text)
      t.ok(exported.has(helper), helper)
      t.equal(typescriptType(parsed, { builtin }), type, text)
    }
  }
  t.same(unboxing(parseType('int[2]'), { builtin: false }).extra, [2])
  t.end()
})

import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { emitTensorMethods } from '../../codegen/emit/tensor-methods.js'
import { readOperators } from '../../codegen/generate.js'
import { readTensorMethods } from '../../codegen/tensor-methods.js'
import { parseEntries } from '../../codegen/yaml-file.js'

const root = join(dirname(fileURLToPath(import.meta.url)), '../..')
const operators = readOperators(join(root, 'codegen/native_functions'), root)

const emit = (rows: string): string[] => [
  ...emitTensorMethods(readTensorMethods(parseEntries(`- group: g\n${rows}`, 'm.yaml'), operators)).values(),
]
const row = (name: string, forms: string, rest = ''): string => `- ${name}\n  forms: ${forms}\n  doc: d\n  shape: s\n${rest}`

t.test('forms that only add parameters are one signature, others overloads', async (t) => {
  const [types, table] = emit(row('method: sum', "{ 'sum()': sum, 'sum(dims, keepdim)': sum.dim_IntList }", '  dtype: sum\n'))
  t.match(types, '  sum(dims?: number | readonly number[] | null, keepdim?: boolean): Tensor<SumOf<D>>\n')
  t.match(table, "'sum= .dim_IntList'")
  const [overloads] = emit(
    row('method: max', "{ 'max()': max, 'max(dim, keepdim)': max.dim, 'max(other)': max.other }", '  dtype: same, int64\n'),
  )
  t.match(overloads, '  max(): Tensor<D>\n')
  t.match(overloads, "  max(dim: number, keepdim?: boolean): [values: Tensor<D>, indices: Tensor<'int64'>]\n")
  t.match(overloads, '  max<O extends Tensor>(other: O): Tensor<PromotedOf<D, O>>\n')
})

t.test('arguments of calls that have none, and dtypes that callers give', async (t) => {
  const [, table] = emit(row('method: softmax', "{ 'softmax(dim = -1)': softmax.int }"))
  t.match(table, "'softmax=.int(-1)'")
  const functions = emit(row('function: zeros', "{ 'zeros(shape, dtype)': zeros }", '  dtype: given float32\n'))[2]
  t.match(functions, "export function zeros<E extends DTypeName = 'float32'>(shape: readonly number[], dtype?: E): Tensor<E>\n")
})

t.test('mistakes are named', async (t) => {
  t.throws(() => emit(row('method: x', "{ 'y()': relu }")), /m\.yaml:2: x: 'y\(\)' is no call of it/)
  t.throws(() => emit(row('method: x', "{ 'x()': relux }")), /no operator aten::relux is declared/)
  t.throws(() => emit(row('method: x', "{ 'x(a)': relu }")), /aten::relu takes fewer arguments/)
  t.throws(() => emit(row('method: zeros', "{ 'zeros(shape)': zeros }")), /aten::zeros has no 'self'/)
  t.throws(() => emit(row('method: x', "{ 'x(a-b)': relu }")), /'a-b' is no parameter/)
  t.throws(() => emit(row('method: relu', "{ 'relu()': relu }", '  dtype: int\n')), /no such dtype: int/)
  t.throws(() => emit(row('method: relu', "{ 'relu()': relu }", '  units: m\n')), /unknown key 'units'/)
  t.throws(() => emit(`${row('method: relu', "{ 'relu()': relu }")}${row('method: relu', "{ 'relu()': relu }")}`), /stands here twice/)
  t.throws(() => emit('- method: relu\n  doc: d\n  shape: s\n'), /needs 'forms'/)
  t.throws(() => emit("- method: relu\n  forms: { 'relu()': relu }\n"), /needs a group, 'doc' and 'shape'/)
  t.throws(() => emit('- operator: relu\n'), /needs 'method', 'function' or 'group' first/)
})

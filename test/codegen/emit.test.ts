import t from 'tap'
import { emitBoxed, sharedName } from '../../codegen/emit/boxed.js'
import { emitDerived } from '../../codegen/emit/derived.js'
import { emitDispatch, targetOf } from '../../codegen/emit/dispatch.js'
import { emitInterfaces } from '../../codegen/emit/interfaces.js'
import { emitTables } from '../../codegen/emit/table.js'
import { unpackNumbers } from '../../runtime/operators/table/packed.js'
import type { Operator } from '../../codegen/model/operator.js'
import { build, declare, functionText } from './support/declare.js'

const yaml = `
- func: acosh(Tensor self) -> Tensor
  variants: function, method
  structured_delegate: acosh.out
- func: acosh_(Tensor(a!) self) -> Tensor(a!)
  structured_delegate: acosh.out
- func: acosh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU, CUDA: acosh_out
- func: cat(Tensor[] tensors, int dim=0) -> Tensor
  dispatch:
    CPU: cat_cpu
    QuantizedCPU: cat_quantized
- func: linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor
  dispatch:
    CPU: linear
    QuantizedCPU: linear_quantized
- func: zeros(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor
  autogen: zeros.out
- func: q_scale(Tensor self) -> float
  dispatch:
    QuantizedCPU: q_scale
- func: var_mean(Tensor self, int[1]? dim=None, *, bool unbiased=True) -> (Tensor, Tensor)
- func: _set_item.str(Dict(str, t)(a!) l, str(b -> *) idx, t(c -> *) v) -> ()
  dispatch:
    Builtin: set_item
- func: format(str self, ...) -> str
  dispatch:
    Builtin: format
- func: prim::TupleUnpack(Any tup) -> ...
  dispatch:
    Builtin: tuple_unpack
- func: aten::divmod.int(int x, int y) -> (int, int)
  dispatch:
    Builtin: divmod
- func: bernoulli_.float(Tensor(a!) self, float p=0.5, *, Generator? generator=None) -> Tensor(a!)
  autogen: bernoulli.float_out
`
const operators = declare(yaml)
const both = emitDispatch(operators, build('CPU', 'QuantizedCPU'))

/** What a function does first that has no kernel for quantized tensors, in a build that has such tensors. */
const refusal = (name: string, keys: string): string => `  refuseQuantized('aten::${name}', ${keys})\n`

await t.test('one backend: a direct call, no key', (t) => {
  t.equal(
    functionText(both, 'acosh'),
    `export function acosh(self: Tensor): Tensor {\n${refusal('acosh', 'keyOf(self)')}  return cpu.acosh_out(self)\n}`,
  )
  const cpuOnly = emitDispatch(operators, build('CPU'))
  t.equal(functionText(cpuOnly, 'acosh'), 'export function acosh(self: Tensor): Tensor {\n  return cpu.acosh_out(self)\n}')
  t.equal(
    functionText(cpuOnly, 'cat'),
    'export function cat(tensors: Tensor[], dim: number): Tensor {\n  return cpu.cat_cpu(tensors, dim)\n}',
  )
  t.notMatch(cpuOnly, /quantized|keyOf\(tensors/)
  t.end()
})

await t.test('in-place and out forms hand their tensors to the one native function', (t) => {
  t.equal(
    functionText(both, 'acosh_'),
    `export function acosh_(self: Tensor): Tensor {\n${refusal('acosh_', 'keyOf(self)')}  return cpu.acosh_out(self, self)\n}`,
  )
  t.equal(
    functionText(both, 'acosh_out'),
    `export function acosh_out(self: Tensor, out: Tensor): Tensor {\n${refusal('acosh.out', 'keyOf(self) | keyOf(out)')}  return cpu.acosh_out(self, out)\n}`,
  )
  t.end()
})

await t.test('two backends: a switch on the highest key of all tensors', (t) => {
  t.equal(
    functionText(both, 'linear'),
    `export function linear(input: Tensor, weight: Tensor, bias: Tensor | null): Tensor {
  const key = highestKey(keyOf(input) | keyOf(weight) | keyOf(bias))
  switch (key) {
    case QuantizedCPU:
      return quantized.linear_quantized(input, weight, bias)
    case CPU:
      return cpu.linear(input, weight, bias)
    default:
      return noBackend('aten::linear', key)
  }
}`,
  )
  t.match(functionText(both, 'cat'), 'highestKey(keyOfList(tensors))')
  t.end()
})

await t.test('no backend: an error naming operator and key', (t) => {
  t.equal(
    functionText(emitDispatch(operators, build('CPU')), 'q_scale'),
    "export function q_scale(self: Tensor): number {\n  return noBackend('aten::q_scale', highestKey(keyOf(self)))\n}",
  )
  t.end()
})

await t.test('boxed wrappers', (t) => {
  const options = build('CPU', 'QuantizedCPU')
  const boxed = emitBoxed(operators, options)
  const operator = (name: string): Operator => operators.find((o) => o.qualifiedName === `aten::${name}`)!
  const wrapper = (name: string): string => functionText(boxed, sharedName(operator(name), options))
  const body = (name: string): string => wrapper(name).split('\n').slice(1, -1).join('\n')
  t.equal(
    wrapper('cat'),
    `export function box_Tensors_Int(s: Stack, f: (a0: Tensor[], a1: number) => Value): void {
  s.top -= 2
  give(s, f(asTensors(s, 0), asInt(s, 1)))
}`,
  )
  t.match(body('zeros'), 's.top -= 5\n  give(s, f(asInts(s, 0), asOptions(s, 1)))')
  t.match(body('q_scale'), 'giveFloat(s, f(')
  t.match(body('var_mean'), 'giveAll(s, f(asTensor(s, 0), asIntsOrNull(s, 1, 1), asBool(s, 2)))')
  t.match(body('_set_item.str'), /^ {2}f\(asDict\(s, 0\), asStr\(s, 1\), asAny\(s, 2\)\)$/m)
  t.match(body('format'), /const n = takeVarargs\(s, 1\)\n {2}give\(s, f\(asStr\(s, 0\), rest\(s, 1, n\)\)\)/)
  t.match(body('divmod.int'), 'asLong(s, 0)')
  t.match(functionText(boxed, 'box_Any__All'), 'giveAll(s, f(asAny(s, 0)))')
  t.equal(sharedName(operator('acosh_'), options), 'box_PlainTensor__at_0_0')
  t.match(body('acosh_'), 'give(s, f(asPlainTensor(s, 0), asPlainTensor(s, 0)))')
  t.end()
})

await t.test('the table: names, the function of each, and the wrapper it shares with others', (t) => {
  const options = build('CPU', 'QuantizedCPU')
  const files = new Map(emitTables(operators, options))
  const [table, code] = ['table', 'functions'].map((name) => files.get(`runtime/operators/table/generated/${name}.ts`)!) as [string, string]
  const list = (name: string): string[] =>
    new RegExp(`${name}\\b.*[[(]\\n([^]*?)\\n[\\])]`)
      .exec(code)![1]!
      .split('\n')
      .map((line) => line.slice(2, -1))
  const text = (name: string): string => new RegExp(`${name}: string = '(.*)'`).exec(table)![1]!
  const [functions, wrappers] = [list('functions'), list('wrappers')]
  t.same(
    text('names').split(' '),
    operators.map((o) => o.qualifiedName),
  )
  t.equal(functions.filter((f) => f === 'cpu.acosh_out').length, 1, 'one for three variants')
  const numbers = (name: string): number[] => unpackNumbers(text(name).replace(/\\(.)/g, '$1'))
  t.same(
    numbers('functionOf').map((i) => functions[i]),
    operators.map((o) => targetOf(o, options).name),
  )
  t.same(
    numbers('wrapperOf').map((i) => wrappers[i]),
    operators.map((o) => `boxed.${sharedName(o, options)}`),
  )
  t.end()
})

await t.test('autogen variants call what they derive from', (t) => {
  const derived = emitDerived(operators, build('CPU', 'QuantizedCPU'))
  t.match(functionText(derived, 'zeros_out'), 'return writeOut(out, composite.zeros(size, optionsOf(out)))')
  t.match(
    functionText(derived, 'bernoulli_float_out'),
    /writeOut\(out, self\)\n {2}composite\.bernoulli__float\(out, p, generator\)\n {2}return out/,
  )
  t.end()
})

await t.test('interfaces', (t) => {
  const interfaces = emitInterfaces(operators, build('CPU', 'QuantizedCPU'))
  t.match(interfaces, '  acosh_out: (self: Tensor, out?: Tensor) => Tensor\n')
  t.match(interfaces, '  zeros: (size: number[], options: TensorOptions) => Tensor\n')
  t.match(interfaces, '  divmod: (x: Int, y: Int) => [Int, Int]\n')
  t.match(interfaces, '  set_item: (l: Map<DictKey, Value>, idx: string, v: Value) => void\n')
  t.end()
})

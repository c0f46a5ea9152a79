import t from 'tap'
import { emitBoxed } from '../../codegen/emit/boxed.js'
import { emitDerived } from '../../codegen/emit/derived.js'
import { emitDispatch } from '../../codegen/emit/dispatch.js'
import { emitInterfaces } from '../../codegen/emit/interfaces.js'
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

await t.test('one backend: a direct call, no key', (t) => {
  t.equal(functionText(both, 'acosh'), 'export function acosh(self: Tensor): Tensor {\n  return cpu.acosh_out(self)\n}')
  const cpuOnly = emitDispatch(operators, build('CPU'))
  t.equal(
    functionText(cpuOnly, 'cat'),
    'export function cat(tensors: Tensor[], dim: number): Tensor {\n  return cpu.cat_cpu(tensors, dim)\n}',
  )
  t.notMatch(cpuOnly, /quantized|keyOf\(tensors/)
  t.end()
})

await t.test('in-place and out forms hand their tensors to the one native function', (t) => {
  t.equal(functionText(both, 'acosh_'), 'export function acosh_(self: Tensor): Tensor {\n  return cpu.acosh_out(self, self)\n}')
  t.equal(
    functionText(both, 'acosh_out'),
    'export function acosh_out(self: Tensor, out: Tensor): Tensor {\n  return cpu.acosh_out(self, out)\n}',
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
  const boxed = emitBoxed(operators, build('CPU', 'QuantizedCPU'))
  const index = (name: string): number => operators.findIndex((o) => o.qualifiedName === name)
  const body = (name: string): string => functionText(boxed, name).split('\n').slice(1, -1).join('\n')
  t.equal(
    functionText(boxed, 'w_cat'),
    `export function w_cat(s: Stack): void {
  take(s, 2, ${index('aten::cat')})
  give(s, at.cat(asTensors(s, 0), asInt(s, 1)))
}`,
  )
  t.match(body('w_zeros'), 'give(s, composite.zeros(asInts(s, 0), asOptions(s, 1)))')
  t.match(body('w_q_scale'), 'giveFloat(s, quantized.q_scale(')
  t.match(body('w_var_mean'), 'giveAll(s, composite.var_mean(asTensor(s, 0), asIntsOrNull(s, 1, 1), asBool(s, 2)))')
  t.match(body('w__set_item_str'), /^ {2}builtin\.set_item\(asDict\(s, 0\), asStr\(s, 1\), asAny\(s, 2\)\)$/m)
  t.match(body('w_format'), /const n = takeVarargs\(s, 1, \d+\)\n {2}give\(s, builtin\.format\(asStr\(s, 0\), rest\(s, 1, n\)\)\)/)
  t.match(body('w_prim_TupleUnpack'), 'giveAll(s, builtin.tuple_unpack(asAny(s, 0)))')
  t.match(body('w_divmod_int'), 'asLong(s, 0)')
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

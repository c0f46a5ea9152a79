import t from 'tap'
import { loadProgram } from '../../../engine/load-program.js'
import { Float } from '../../../runtime/tensor/scalar.js'
import { tensor } from '../../../src/index.js'
import { errorOf } from '../../module/fixtures.js'
import { loadScript, method, operatorsOf, scriptArchive } from './archive.js'

t.test('calls mean the overloads that PyTorch takes', (t) => {
  const cases: readonly (readonly [parameters: string, expression: string, ...operators: string[]])[] = [
    ['x: Tensor, y: Tensor', 'torch.add(x, y)', 'aten::add.Tensor'],
    ['x: Tensor', 'torch.add(x, 1)', 'aten::add.Scalar'],
    ['x: Tensor', 'torch.add(x, True)', 'aten::add.Scalar'],
    ['x: int, y: int', 'torch.add(x, y)', 'aten::add.int'],
    ['x: int, y: float', 'torch.add(x, y)', 'aten::add.int_float'],
    ['x: number, y: int', 'torch.add(x, y)', 'aten::add'],
    ['x: List[int]', 'torch.add(x, x)', 'aten::add.t'],
    ['x: str', 'torch.add(x, x)', 'aten::add.str'],
    ['x: Tensor', 'torch.sum(x, [1], True)', 'aten::sum.dim_IntList'],
    ['x: Tensor', 'torch.sum(x)', 'aten::sum'],
    ['x: Tensor', 'torch.max(x, 1)', 'aten::max.dim'],
    ['x: Tensor', 'torch.max_pool2d(x, 2)', 'aten::max_pool2d'],
    ['x: int', 'torch.zeros(x, 2)', 'aten::zeros'],
    ['x: Tensor', 'torch.to(x, 6)', 'aten::to.dtype'],
    ['x: Tensor', 'torch.to(x, dtype=6, layout=0, device=torch.device("cpu"), pin_memory=None, non_blocking=False, copy=False, memory_format=None)', 'aten::to.dtype_layout'],
    ['x: Tensor', 'torch.index(x, annotate(List[Optional[Tensor]], [x]))', 'aten::index.Tensor'],
    ['x: Tensor', 'torch.index(x, [x])', 'aten::index.Tensor_hacked_twin'],
    ['x: Tensor', 'torch.upsample_bilinear2d(x, [2, 2], False, None)', 'aten::upsample_bilinear2d.vec'],
    ['x: Tensor', 'torch.reshape(x, (1, 2))', 'aten::reshape'],
    ['x: Dict[str, int]', 'torch.len(x)', 'aten::len.Dict_str'],
    ['x: List[List[int]]', 'torch.len(x)', 'aten::len.t'],
    ['x: Tensor', 'torch.select(x, 0, annotate(int, x))', 'aten::IntImplicit', 'aten::select.int'],
    ['x: Tensor', 'torch.unsqueeze(input=x, dim=0)', 'aten::unsqueeze'],
    ['x: Tensor, y: Tensor', 'torch.bernoulli(x, out=y)', 'aten::bernoulli.out'],
    ['x: Tensor, y: Tensor', 'torch.clamp(x, out=y)', 'aten::clamp.out'],
    ['x: Tensor, y: Tensor', 'torch.normal(x, out=y)', 'aten::normal.Tensor_float_out'],
    ['x: Tensor, y: Tensor', 'torch.var(x, [0], out=y)', 'aten::var.out'],
    ['x: Tensor', 'torch.__interpolate(x)', 'aten::__interpolate.scale_list'],
    ['x: Tensor', 'torch.linalg_matrix_rank(x)', 'aten::linalg_matrix_rank.atol_rtol_tensor'],
    ['x: Tensor', 'torch.linalg_pinv(x)', 'aten::linalg_pinv.atol_rtol_float'],
    ['x: List[Tensor]', 'torch.dequantize(x)', 'aten::dequantize.tensors'],
    ['x: int', 'torch.range(x, 5)', 'aten::range.step'],
    ['x: float', 'int(x)', 'aten::Int.float'],
    ['x: Optional[Tensor]', 'ops.prim.unchecked_unwrap_optional(x)', 'prim::unchecked_unwrap_optional'],
  ] // prettier-ignore
  for (const [parameters, expression, ...expected] of cases) {
    const found = operatorsOf(method(parameters, 'Any', `return ${expression}`))
    t.same(found.sort(), expected.sort(), expression)
  }
  t.end()
})

t.test('arguments that are the defaults are left to the operator', (t) => {
  const module = loadScript(method('x: Tensor', 'Tensor', 'y = torch.softmax(x, 1, None)', 'return torch.add(y, x, alpha=1)'))
  const counts = module.method('forward').source.operators.map(({ name, argCount }) => [name, argCount])
  t.same(counts, [
    ['aten::softmax', 2],
    ['aten::add', 2],
  ])
  module.dispose()
  t.end()
})

t.test('operators of older versions', (t) => {
  const code = method('', 'Tensor', 'return torch.full([2], 3)')
  t.same(operatorsOf(code), ['aten::full'])
  // PyTorch's mobile interpreter takes all arguments of an upgraded operator from the stack
  const ranges = method(
    'x: Tensor',
    'Tensor',
    'y = torch.linspace(0, 1)',
    'z = torch.linspace(0, 1, None, out=x)',
    'return torch.logspace(0, 1, out=x)',
  )
  for (const version of ['2', '3', '7']) {
    const module = loadProgram(scriptArchive(ranges, version))
    t.same(
      module.method('forward').source.operators.map(({ name, overload, argCount }) => [name, overload, argCount]),
      [
        ['aten::linspace', '', 7],
        ['aten::linspace', 'out', 4],
        ['aten::logspace', 'out', 5],
      ],
    )
    const out = tensor(new Float32Array(0), [0])
    t.equal(module.call(module.method('forward'), [out]), out)
    t.same([out.shape, out.data()[0], out.data()[99]], [[100], 1, 10])
    module.dispose()
  }
  t.match(errorOf(() => loadProgram(scriptArchive(ranges, '8'))).message, /no form of aten::linspace of this build takes/)
  t.end()
})

t.test('control flow', (t) => {
  const run = (code: string, ...args: (number | boolean)[]): unknown => {
    const module = loadScript(code)
    const result = module.call(module.method('forward'), args)
    module.dispose()
    return result
  }
  const loop = method('n: int', 'int', 'a = 0', 'b = 1', 'for i in range(n):', '  c = torch.add(a, b)', '  a, b = b, c', 'return a')
  t.equal(run(loop, 10), 55)
  const range = method('n: int', 'int', 's = 0', 'for i in range(2, n, 3):', '  s = torch.add(s, i)', 'return s')
  t.equal(run(range, 12), 2 + 5 + 8 + 11)
  const early = method(
    'n: int',
    'int',
    'if torch.gt(n, 5):',
    '  return 1',
    'if torch.gt(n, 3):',
    '  m = 2',
    'else:',
    '  return 3',
    'return m',
  )
  t.same([6, 4, 1].map((n) => run(early, n)), [1, 2, 3]) // prettier-ignore
  const list = method('n: int', 'int', 'x = [torch.mul(i, 2) for i in [1, 2, n] if torch.gt(i, 1)]', 'return torch.add(x[0], x[1])')
  t.equal(run(list, 5), 14)
  const declared = method('a: bool', 'Optional[int]', 'x : Optional[int] = None', 'if a:', '  x = 3', 'else:', '  pass', 'return x')
  t.same([true, false].map((a) => run(declared, a)), [3, null]) // prettier-ignore
  const choice = method('a: bool, b: bool', 'float', 'return 1.5 if a and not b else 2.5')
  t.same(run(choice, true, false), new Float(1.5))
  const other = method('a: bool', 'int', 'if a:', '  x = 1', 'else:', '  x = "b"', 'return x')
  t.match(errorOf(() => loadScript(other)).message, /x is of type int on one way to here, and str on another/)
  t.match(errorOf(() => loadScript(method('', 'int', 'for i in range(3):', '  break', 'return 1'))).message, /a break inside of a loop/)
  t.end()
})

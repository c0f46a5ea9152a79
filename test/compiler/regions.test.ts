import t from 'tap'
import { loadModule, memoryStats, type Module, PtliteError, type Tensor, tensor } from '../../src/index.js'
import { type MethodSource, modelOf } from '../module/model-writer.js'

const OPERATORS = [
  ['aten::relu', 1],
  ['aten::tanh', 1],
  ['aten::sum', 2],
  ['aten::item', 1],
  ['aten::mul.Scalar', 2],
  ['aten::add_.Tensor', 3],
  ['aten::index_select', 3],
  ['aten::sigmoid', 1],
] as const

type Code = readonly (readonly [name: string, x?: number | string, n?: number])[]

/** A method whose operators are named where they are called; arguments are in registers 2 on. */
function method(name: string, registers: number, constants: MethodSource['constants'], code: Code): MethodSource {
  const instructions = code.map(([opcode, x = 0, n = 0]): MethodSource['instructions'][number] => [
    opcode,
    typeof x === 'string' ? OPERATORS.findIndex(([op]) => op === `aten::${x}`) : x,
    n,
  ])
  return { name, instructions, operators: OPERATORS, constants, types: [], registers }
}

/** y = sigmoid(tanh(relu(x))); y * item(sum(y)), and three operators more. */
const SCALED = method('scaled', 3, [null], [
  ['STOREN', 1, 2],
  ['MOVE', 2],
  ['OP', 'relu'],
  ['OP', 'tanh'],
  ['OP', 'sigmoid'],
  ['STORE', 3],
  ['LOAD', 3],
  ['LOAD', 3],
  ['LOADC', 0],
  ['OP', 'sum'],
  ['OP', 'item'],
  ['OP', 'mul.Scalar'],
  ['OP', 'relu'],
  ['OP', 'tanh'],
  ['OP', 'sigmoid'],
  ['RET'],
]) // prettier-ignore

/** Adds to its first argument, and selects by its second, which may be out of range. */
const FAILS = method('fails', 3, [1, 0, null], [
  ['STOREN', 1, 3],
  ['LOAD', 2],
  ['LOAD', 2],
  ['LOADC', 0],
  ['OP', 'add_.Tensor'],
  ['OP', 'tanh'],
  ['LOADC', 1],
  ['LOAD', 3],
  ['OP', 'index_select'],
  ['OP', 'relu'],
  ['RET'],
]) // prettier-ignore

const load = (compile: 'auto' | 'off'): Promise<Module> => loadModule(modelOf([SCALED, FAILS]), { compile })
const numbers = (output: unknown): number[] => Array.from((output as Tensor).data(), Number)

t.test('a method goes on with a plan behind what reads data', async (t) => {
  const [auto, off] = [await load('auto'), await load('off')]
  const call = (m: Module, i: number): number[] => {
    const x = tensor([i - 1, 2, -3, 0.5], [4])
    const out = m.call('scaled', [x]) as Tensor
    const result = numbers(out)
    out.dispose()
    x.dispose()
    return result
  }
  for (let i = 0; i < 4; i++) {
    const [a, b] = [call(auto, i), call(off, i)]
    t.ok(a.every((x, k) => Math.abs(x - b[k]!) < 1e-6))
  }
  const plans = auto.plans()
  t.equal(plans[0]!.state, 'plan')
  t.match(plans[0]!.region?.until, /^aten::item reads the contents of a tensor/)
  t.match(auto.explain('scaled', [tensor([1, 2, 3, 4], [4])]), /## region 1 of 2: up to where aten::item reads/)
  for (let i = 0; i < 4; i++) call(auto, 3)
  const { live } = memoryStats()
  // fewer calls than it takes to find out that the interpreter is faster
  for (let i = 0; i < 6; i++) call(auto, 3)
  t.equal(memoryStats().live, live, 'nothing is left of the regions of a call')
  for (const m of [auto, off]) m.dispose()
})

t.test('an error leaves what the interpreter leaves', async (t) => {
  const [auto, off] = [await load('auto'), await load('off')]
  const call = (m: Module, index: number): unknown[] => {
    const x = tensor([1, 2, 3], [3])
    try {
      return [numbers(m.call('fails', [x, tensor([index, 0], [2], 'int64')])), numbers(x)]
    } catch (error) {
      if (!(error instanceof PtliteError)) throw error
      return [error.code, /Traceback of TorchScript/.test(error.message), numbers(x)]
    }
  }
  for (const index of [0, 1, 2, 0, 9, 1, 9]) t.strictSame(call(auto, index), call(off, index), `index ${index}`)
  t.equal(auto.plans().find((p) => p.method === 'fails')?.state, 'plan')
  for (const m of [auto, off]) m.dispose()
})

t.test('states that keep changing cost a bounded number of regions', async (t) => {
  const m = await load('auto')
  for (let i = 0; i < 60; i++) {
    m.call('scaled', [tensor([i / 60, 2, -3, 0.5], [4])])
    const regions = m.plans().filter((p) => p.method === 'scaled')
    t.ok(regions.length <= 33, `${regions.length} regions`)
  }
  m.dispose()
})

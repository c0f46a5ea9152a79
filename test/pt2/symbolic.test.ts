import t from 'tap'
import { loadModule } from '../../src/index.js'
import { type Any, bytesOf, node, program, symbolArgument } from './writer.js'

const number = (value: number | boolean): Any =>
  typeof value === 'boolean' ? { as_bool: value } : Number.isInteger(value) ? { as_int: value } : { as_float: value }

/** What a function makes of numbers. Ints come as arguments of the call, all others as constants. */
async function compute(target: string, args: readonly (number | boolean)[], type: string): Promise<unknown> {
  const isArgument = (value: unknown): boolean => typeof value === 'number' && Number.isInteger(value)
  const inputs = args.flatMap((value, i) => (isArgument(value) ? [symbolArgument(`n${i}`)] : []))
  const operands = args.map((value, i) => ['', isArgument(value) ? symbolArgument(`n${i}`) : number(value)] as const)
  const bytes = bytesOf(
    program({
      inputs,
      nodes: [node(target, operands, [symbolArgument('out', type)])],
      outputs: [symbolArgument('out', type)],
      tensors: {},
    }),
  )
  const module = await loadModule(bytes)
  try {
    return module.forward(...args.filter(isArgument))
  } finally {
    module.dispose()
  }
}

const CASES: readonly (readonly [target: string, args: readonly (number | boolean)[], type: string, result: number | boolean])[] = [
  ['_operator.add', [2, 3], 'int', 5],
  ['operator.add', [2, 0.5], 'float', 2.5],
  ['_operator.sub', [2, 3], 'int', -1],
  ['_operator.mul', [2.5, 3], 'float', 7.5],
  ['_operator.floordiv', [-7, 2], 'int', -4],
  ['_operator.mod', [-7, 3], 'int', 2],
  ['_operator.truediv', [7, 2], 'float', 3.5],
  ['_operator.pow', [3, 4], 'int', 81],
  ['_operator.pow', [4, 0.5], 'float', 2],
  ['_operator.pow', [2, -1], 'float', 0.5],
  ['_operator.neg', [3], 'int', -3],
  ['_operator.pos', [3], 'int', 3],
  ['_operator.lshift', [3, 2], 'int', 12],
  ['_operator.rshift', [12, 2], 'int', 3],
  ['_operator.and_', [true, false], 'bool', false],
  ['_operator.or_', [true, false], 'bool', true],
  ['_operator.and_', [6, 3], 'int', 2],
  ['_operator.eq', [2, 2], 'bool', true],
  ['_operator.ne', [true, true], 'bool', false],
  ['_operator.lt', [2, 2.5], 'bool', true],
  ['_operator.le', [3, 2], 'bool', false],
  ['_operator.gt', [3, 2], 'bool', true],
  ['_operator.ge', [2, 3], 'bool', false],
  ['math.trunc', [-2.5], 'int', -2],
  ['math.floor', [-2.5], 'int', -3],
  ['math.ceil', [-2.5], 'int', -2],
  ['torch.sym_not', [true], 'bool', false],
  ['torch.sym_int', [2.75], 'int', 2],
  ['torch.sym_float', [2], 'float', 2],
  ['torch.sym_ite', [true, 2, 3], 'int', 2],
  ['torch.sym_ite', [false, 2, 3.5], 'float', 3.5],
  ['torch.sym_max', [2, 3], 'int', 3],
  ['torch.sym_min', [2, 0.5], 'float', 0.5],
  ['torch.sym_sqrt', [9], 'float', 3],
  ['torch._sym_sqrt', [9], 'float', 3],
  ['torch.sym_sum', [1, 2, 3], 'int', 6],
  ['math.cos', [0], 'float', 1],
]

for (const [target, args, type, result] of CASES)
  t.test(`${target}(${args.join(', ')})`, async (t) => {
    t.equal(await compute(target, args, type), result)
  })

t.test('what is no function of sizes', async (t) => {
  await t.rejects(compute('math.gamma', [2], 'float'), { code: 'UNSUPPORTED_FILE', message: /math\.gamma/ })
  await t.rejects(compute('os.system', [2], 'int'), { code: 'UNSUPPORTED_FILE' })
  await t.rejects(compute('_operator.toString', [2, 3], 'int'), { code: 'UNSUPPORTED_FILE' })
  await t.rejects(compute('_operator.add', [], 'int'), { code: 'INVALID_FILE' })
  await t.rejects(compute('_operator.add', [1, 2, 3], 'int'), { code: 'INVALID_FILE' })
})

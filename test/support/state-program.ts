import { type Tensor, tensor } from '../../src/index.js'
import { writeProgram } from '../differential/archive.js'
import type { Statement } from '../differential/program.js'

/** A module whose methods read and write its tensors. */

const TENSOR = { kind: 'Tensor' } as const
const INT = { kind: 'int' } as const
export const method = (name: string, lines: readonly string[], result: string, inputs: readonly string[] = []) => ({
  ...{ name, parameters: inputs.map((input) => ({ name: input, type: input === 'n' ? INT : TENSOR })), returns: TENSOR, result },
  body: lines.map((text): Statement => ({ kind: 'line', text })),
})

/** Products that take a while. */
const PRODUCTS = Array.from({ length: 20 }, (_, i) => `y${i + 1} = torch.tanh(torch.matmul(y${i}, x))`)

/** A cache of six rows, a counter, and a row of the cache by another name. */
const METHODS = [
  method(
    'forward',
    ['c = torch.add_(self.count, 1)', 'k = torch.index_copy_(self.rows, 0, at, x)', 'y = torch.matmul(self.rows, self.weight)'],
    'torch.add(torch.mul(y, c), torch.sum(x))',
    ['x', 'at'],
  ),
  method('peek', ['s = torch.sum(self.rows, [0])'], 'torch.mul(torch.add(s, 1), self.count)'),
  method('first', ['s = torch.mul(self.row, 2)'], 'torch.add(s, 1)'),
  method('reset', ['z = torch.zero_(self.rows)', 'n = torch.fill_(self.count, 0)'], 'torch.add(n, 0)'),
  method('shown', ['z = torch.mul_(self.rows, 2)'], 'self.rows'),
  method('plain', ['y = torch.matmul(x, self.weight)'], 'torch.add(y, 1)', ['x']),
  method('slow', ['c = torch.add_(self.count, 1)', 'r = torch.fill_(self.rows, torch.sum(x))', 'y0 = torch.neg(x)', ...PRODUCTS], 'y20', [
    'x',
  ]),
  method('times', ['c = torch.add_(self.count, 1)', 'y = torch.mul(c, n)'], 'torch.add(x, y)', ['x', 'n']),
  method('picked', ['a = torch.index_select(x, 0, at)', 'b = torch.tanh(a)'], 'torch.add(b, 1)', ['x', 'at']),
  // of these there are no plans in a file
  method('drawn', ['d = torch.dropout(self.rows, 0.5, True)', 'z = torch.add_(self.rows, d)', 's = torch.sum(z)'], 'torch.mul(s, 0)'),
  method('both', ['s = torch.add(self.row, torch.sum(self.rows, [0]))'], 'torch.mul(s, 2)'),
  method('doubled', ['z = torch.mul_(self.rows, 2)', 'y = torch.sum(z)'], 'torch.add(y, 1)'),
  method('anew', ['self.rows = torch.add(self.rows, 1)', 'y = torch.sum(self.rows)'], 'torch.add(y, 1)'),
  method('weighed', ['z = torch.add_(self.weight, 1)', 'y = torch.sum(z)'], 'torch.add(y, 1)'),
]

export const PROGRAM = writeProgram({
  ...{ family: 'state', seed: 0, namedTuples: [], calls: [], looks: 'last' },
  storages: [
    { dtype: 'float32', data: Array.from({ length: 18 }, (_, i) => Math.sin(i)) },
    { dtype: 'int64', data: [3] },
    { dtype: 'float32', data: Array.from({ length: 9 }, (_, i) => Math.cos(i)) },
  ],
  classes: [
    {
      name: 'M',
      attributes: [
        { name: 'rows', type: 'Tensor', value: { storage: 0, shape: [6, 3], strides: [3, 1], offset: 0 } },
        { name: 'count', type: 'Tensor', value: { storage: 1, shape: [1], strides: [1], offset: 0 } },
        { name: 'row', type: 'Tensor', value: { storage: 0, shape: [3], strides: [1], offset: 6 } },
        { name: 'weight', type: 'Tensor', value: { storage: 2, shape: [3, 3], strides: [3, 1], offset: 0 } },
      ],
      methods: METHODS,
    },
  ],
} as never)

/** Arguments of call `i` of `forward`. */
export const step = (i: number): [Tensor, Tensor] => [tensor([[i, i + 1, i + 2]]), tensor(BigInt64Array.of(BigInt(i % 6)), [1])]
export const numbers = (value: unknown): number[] => [...(value as Tensor).data()].map(Number)
export const isClose = (a: number[], b: number[]): boolean =>
  a.length === b.length && a.every((x, i) => Math.abs(x - b[i]!) <= 1e-5 * Math.max(1, Math.abs(b[i]!)))

/** Calls of methods by names, the same each time. */
export function someCalls(names: readonly string[], count: number, seed: number): string[] {
  let random = seed
  return Array.from({ length: count }, () => {
    random = (Math.imul(random, 1103515245) + 12345) >>> 0
    return names[(random >>> 16) % names.length]!
  })
}

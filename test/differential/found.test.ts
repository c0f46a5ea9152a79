import t from 'tap'
import { generate } from './generator.js'
import { judge } from './judge.js'
import type { Action, Attribute, Method, Program, Spec, Statement, StorageSpec } from './program.js'
import { dictOf, listOf, ROW, tupleOf, type Type, typeText, X } from './types.js'

/** Programs that were wrong once, in all modes. */

interface Found {
  readonly what: string
  readonly attributes: readonly Attribute[]
  readonly body: readonly string[]
  readonly parameters?: readonly (readonly [name: string, type: Type])[]
  readonly result: string
  readonly returns: Type
  /** What the caller does behind a call. */
  readonly after?: readonly (readonly Action[])[]
  /** Arguments after `x`, by call. */
  readonly args?: (call: number) => readonly Spec[]
  /** Calls that fail. */
  readonly errors?: number
}

const STATE: readonly StorageSpec[] = [
  { dtype: 'float32', data: [1, -2, 3, 0.5] },
  { dtype: 'float32', data: [0.25, 4, -1, 2] },
]
const row = (storage: number, id: number): Spec => ({ storage, shape: [4], strides: [1], offset: 0, id })
const listOfRows = (id: number, ...items: Spec[]): Spec => ({ list: items, type: typeText(listOf(ROW)), id })

function programOf({ attributes, body, parameters = [], result, returns, after = [], args }: Found): Program {
  const method: Method = {
    name: 'forward',
    parameters: [{ name: 'x', type: X }, ...parameters.map(([name, type]) => ({ name, type }))],
    returns,
    body: body.map((text): Statement => ({ kind: 'line', text })),
    result,
  }
  const calls = Array.from({ length: 8 }, (_, k) => ({
    method: 'forward',
    storages: [
      { dtype: 'float32' as const, data: Array.from({ length: 12 }, (_, i) => ((i * 5 + k * 3) % 7) - 3) },
      { dtype: 'float32' as const, data: [k, 1, -k, 2, 0.5, 3, -1, -1, k, 0, 1, -2] },
    ],
    args: [{ storage: 0, shape: [3, 4], strides: [4, 1], offset: 0 }, ...(args?.(k) ?? [])],
    after: after[k] ?? [],
  }))
  const classes = [{ name: 'M', attributes, methods: [method] }]
  return { family: 'found', seed: 0, namedTuples: [], classes, storages: STATE, calls, looks: 'always' }
}

const given: Spec = { storage: 1, shape: [4], strides: [1], offset: 0 }

const FOUND: readonly Found[] = [
  {
    what: 'an argument that becomes state is written to by the caller',
    attributes: [{ name: 'rows', type: 'List[Tensor]', value: listOfRows(2, row(0, 0), row(1, 1)) }],
    parameters: [['given', ROW]],
    args: () => [given],
    body: ['self.rows = torch.add(self.rows, [given])'],
    result: 'x',
    returns: X,
    after: [[{ kind: 'write', of: 'argument', tensor: 1 }], [], [{ kind: 'write', of: 'attribute', tensor: 3 }]],
  },
  {
    what: 'an argument that becomes state is disposed as an attribute',
    attributes: [{ name: 'last', type: 'Tuple[Tensor, int]', value: { tuple: [row(0, 0), { int: 3 }] } }],
    body: ['v0 = torch.sum((self.last)[0])', 'self.last = (x, (self.last)[1])'],
    result: '(x, v0)',
    returns: tupleOf(X, ROW),
    after: [[{ kind: 'dispose', of: 'attribute', tensor: 0 }], [], [{ kind: 'dispose', of: 'result', tensor: 0 }]],
  },
  {
    what: 'an argument that becomes state is written to by the module',
    attributes: [{ name: 'last', type: 'Tensor', value: row(0, 0) }],
    parameters: [['given', listOf(ROW)]],
    args: (k) => [listOfRows(0, k === 0 ? given : { earlier: k - 1, tensor: 0 })],
    body: ['v0 = torch.mul_(self.last, -1.5)', 'self.last = x'],
    result: 'x',
    returns: X,
  },
  {
    what: 'a list that is given becomes state, and grows',
    attributes: [{ name: 'rows', type: 'List[Tensor]', value: listOfRows(2, row(0, 0)) }],
    parameters: [['given', listOf(ROW)]],
    args: () => [listOfRows(3, given, given)],
    body: ['d0 = torch.append(given, torch.sum(x, [0]))', 'self.rows = given', 'd1 = torch.append(self.rows, torch.select(x, 0, 1))'],
    result: 'torch.add(torch.len(given), torch.len(self.rows))',
    returns: { kind: 'int' },
  },
  {
    what: 'a dict that is given becomes state with its views',
    attributes: [
      { name: 'known', type: 'Dict[str, Tensor]', value: { dict: [['a', row(0, 0)]], type: 'Dict[str, Tensor]', id: 2 } },
      { name: 'view', type: 'Tensor', value: row(1, 1) },
    ],
    parameters: [['given', dictOf(ROW)]],
    args: () => [{ dict: [['a', given]], type: 'Dict[str, Tensor]' }],
    body: ['self.known = given', 'self.view = torch.slice(given["a"], 0, 1, 3)', 'v0 = torch.add_(self.view, 1.)'],
    result: '(given["a"], self.view)',
    returns: tupleOf(ROW, ROW),
    after: [[], [{ kind: 'write', of: 'result', tensor: 1 }]],
  },
  {
    what: 'what is returned is an attribute that no call sets',
    attributes: [{ name: 'weight', type: 'Tensor', value: row(0, 0) }],
    body: [],
    result: '(torch.mul(x, self.weight), self.weight)',
    returns: tupleOf(X, ROW),
    after: [[], [], [], [{ kind: 'write', of: 'result', tensor: 1 }]],
  },
  {
    what: 'a view of an attribute is another tensor in each call',
    attributes: [{ name: 'weight', type: 'Tensor', value: row(0, 0) }],
    body: [],
    result: '(torch.mul(x, self.weight), torch.slice(self.weight, 0, 1, 3))',
    returns: tupleOf(X, ROW),
    after: [[], [], [], [{ kind: 'dispose', of: 'result', tensor: 1 }]],
  },
  {
    what: 'a view of an attribute that goes from region to region goes with the call',
    attributes: [
      { name: 'known', type: 'Dict[str, Tensor]', value: { dict: [['a', row(0, 0)], ['b', row(1, 1)]], type: 'Dict[str, Tensor]', id: 2 } }, // prettier-ignore
    ],
    body: [
      'v0 = torch.slice((self.known)["a"], 0, 1, 3)',
      'v1 = torch.clamp_(x, -4., 4.)',
      'd0 = torch._set_item(self.known, "c", torch.clamp(torch.add((self.known)["b"], 1.75), -4., 4.))',
      'torch.Delete(self.known, "c")',
      'v2 = torch.sigmoid((self.known)["b"])',
    ],
    result: 'torch.where(torch.gt(v2, 0.8125), v2, torch.select(v0, 0, 1))',
    returns: ROW,
    after: [[], [], [{ kind: 'dispose', of: 'attribute', tensor: 0 }]],
    errors: 5,
  },
  {
    what: 'arguments share memory in one call, and not in the next',
    attributes: [],
    parameters: [['given', X]],
    args: (k) => [{ storage: Number(k % 4 >= 2), shape: [3, 4], strides: [4, 1], offset: 0 }],
    body: [],
    result: 'torch.where(torch.gt(x, -0.9375), torch.t(torch.t(given)), x)',
    returns: X,
  },
  {
    what: 'an attribute is in a list of the caller when it is replaced',
    attributes: [{ name: 'last', type: 'Tensor', value: row(0, 0) }],
    parameters: [['given', listOf(listOf(ROW))]],
    args: () => [{ list: [], type: typeText(listOf(listOf(ROW))) }],
    body: ['d0 = torch.append(given, [self.last])', 'self.last = torch.sum(x, [0])'],
    result: 'x',
    returns: X,
  },
  {
    what: 'a method writes to what a plan ahead has as a constant',
    attributes: [{ name: 'weight', type: 'Tensor', value: row(0, 0) }],
    parameters: [['n', { kind: 'int' }]],
    args: (k) => [{ int: k % 2 }],
    body: ['v0 = torch.fill_(torch.slice(self.weight, 0, 0, n), 2.)'],
    result: 'torch.minimum(x, self.weight)',
    returns: X,
  },
  {
    what: 'one tensor is given twice',
    attributes: [{ name: 'total', type: 'Tensor', value: row(0, 0) }],
    parameters: [
      ['a', ROW],
      ['b', ROW],
    ],
    args: (k) => [{ storage: 1, shape: [4], strides: [1], offset: 0, id: 5 }, k % 3 === 2 ? given : { same: 5 }],
    body: ['v0 = torch.mul_(a, 2.)', 'v1 = torch.add(b, self.total)'],
    result: '(v1, v0, b)',
    returns: tupleOf(ROW, ROW, ROW),
  },
  {
    what: 'a constant of a plan ahead is disposed as an attribute, whose use changes nothing',
    attributes: [{ name: 'weight', type: 'Tensor', value: row(0, 0) }],
    body: ['v0 = torch.add(self.weight, x)'],
    result: 'x',
    returns: X,
    after: [[], [{ kind: 'dispose', of: 'attribute', tensor: 0 }]],
    errors: 6,
  },
  {
    what: 'a fused result has the strides of a dimension of one element',
    attributes: [],
    parameters: [['given', X]],
    args: () => [{ storage: 0, shape: [1, 4], strides: [1, 1], offset: 2 }],
    body: [],
    result: '(torch.where(torch.gt(given, -0.9375), given, 0), torch.relu(torch.sub(given, 1.)), torch.neg(torch.mul(given, 2.)))',
    returns: tupleOf(X, X, X),
  },
  {
    what: 'a tensor that a list has twice is disposed as an attribute',
    attributes: [
      { name: 'last', type: 'Tensor', value: row(0, 0) },
      { name: 'rows', type: 'List[Tensor]', value: listOfRows(2, row(1, 1), row(1, 3)) },
    ],
    body: [
      'torch.reverse(self.rows)',
      '(self.rows)[0] = torch.mul(x, 0.5)',
      'self.last = torch.select((self.rows)[0], 0, -1)',
      'd0 = torch.append(self.rows, (self.rows)[0])',
    ],
    result: 'x',
    returns: X,
    after: [[], [], [{ kind: 'dispose', of: 'attribute', tensor: 2 }]],
  },
  {
    what: 'a view of a constant, from which alone a constant is made, is disposed as an attribute',
    attributes: [{ name: 'rows', type: 'List[Tensor]', value: listOfRows(2, row(0, 0), row(1, 1)) }],
    body: [],
    result: 'torch.clamp(torch.t((self.rows)[-1]), -4., 4.)',
    returns: ROW,
    after: [[{ kind: 'dispose', of: 'attribute', tensor: 1 }]],
    errors: 7,
  },
  {
    what: 'a view of what was returned is an attribute, and overwritten, and its successor disposed',
    attributes: [
      { name: 'view', type: 'Tensor', value: row(1, 1) },
      { name: 'rows', type: 'List[Tensor]', value: listOfRows(2, row(0, 0)) },
    ],
    body: ['v0 = (self.rows)[-1]', 'self.view = torch.slice(v0, 0, 2)'],
    result: 'v0',
    returns: ROW,
    after: [[{ kind: 'dispose', of: 'result', tensor: 0 }], [{ kind: 'dispose', of: 'attribute', tensor: 0 }]],
  },
  {
    what: 'what is written in place is an expanded tensor',
    attributes: [{ name: 'weight', type: 'Tensor', value: row(0, 0) }],
    body: [
      'v0 = torch.expand(self.weight, [4, 4])',
      'v1 = torch.add(v0, 0.)',
      'v2 = torch.threshold_(v0, 0., 0.5)',
      'v3 = torch.tril_(torch.expand(torch.select(x, 0, 0), [4, 4]), 1)',
    ],
    result: '(x, v1, v3)',
    returns: tupleOf(X, X, X),
  },
  {
    what: 'a view of an attribute waits on the stack for an operator that fails, and the attribute is disposed',
    attributes: [{ name: 'weight', type: 'Tensor', value: row(0, 0) }],
    body: [],
    result: '(torch.slice(self.weight, 0, 2), torch.stack([x, torch.mean(x, [0])]))',
    returns: tupleOf(ROW, X),
    after: [[], [{ kind: 'dispose', of: 'attribute', tensor: 0 }]],
    errors: 8,
  },
  {
    what: 'an attribute that is returned is disposed, while a view that was returned, too, keeps its memory',
    attributes: [{ name: 'weight', type: 'Tensor', value: row(0, 0) }],
    body: [],
    result: '(torch.slice(self.weight, 0, 2), self.weight)',
    returns: tupleOf(ROW, ROW),
    after: [[], [{ kind: 'dispose', of: 'result', tensor: 1 }]],
  },
  {
    what: 'an attribute that was returned is given, where what is given decides',
    attributes: [{ name: 'weight', type: 'Tensor', value: row(0, 0) }],
    parameters: [['given', ROW]],
    args: (k) => [k % 3 === 1 ? { earlier: k - 1, tensor: 0 } : given],
    body: ['v0 = bool(torch.sum(given))'],
    result: '(self.weight, self.weight, given)',
    returns: tupleOf(ROW, ROW, ROW),
  },
  {
    what: 'an attribute that was returned is given in a list, and is not read beside',
    attributes: [{ name: 'weight', type: 'Tensor', value: row(0, 0) }],
    parameters: [
      ['given', listOf(ROW)],
      ['reads', { kind: 'bool' }],
    ],
    args: (k) => [listOfRows(3, k % 3 === 1 ? { earlier: k - 1, tensor: 0 } : given), k % 3 === 0],
    body: ['v0 = given[0]', 'if reads:', '  v0 = self.weight', 'v1 = torch.mul(given[0], 2.)'],
    result: '(v0, torch.add(v1, 1.), given[0])',
    returns: tupleOf(ROW, ROW, ROW),
  },
  {
    what: 'an int that differs from call to call becomes state behind the end of a region',
    attributes: [{ name: 'count', type: 'int', value: { int: 4 } }],
    body: [
      'v0 = self.count',
      'v1 = float(torch.sum(x))',
      'v0 = torch.add(v0, 2)',
      'if torch.gt(torch.sum(torch.sum(x, [0])), 1.90625):',
      '  pass',
      'else:',
      '  self.count = v0',
    ],
    result: 'x',
    returns: X,
  },
]

for (const found of FOUND) {
  t.test(found.what, async (t) => {
    const { fault, errors } = await judge(programOf(found))
    t.strictSame(fault, null)
    t.equal(errors, found.errors ?? 0)
  })
}

// its loop comes back to the operator behind which states are steady again
t.test('the region that is waited for begins where the run stands', async (t) => {
  const { fault } = await judge(generate('branches', 720257))
  t.strictSame(fault, null)
})

// Memory of the module's that a caller disposes of, while others view it: an attribute that is overwritten keeps its share in all modes.
for (const seed of [801125, 801762, 802223, 802621])
  t.test(`views that attributes had, and callers dispose of what they viewed: ${seed}`, async (t) => {
    const { fault } = await judge(generate('disposal', seed))
    t.strictSame(fault, null)
  })

// Two attributes are one list until a call gives one of them another list, which moves what both hold.
t.test('a list that stays the same holds what is state elsewhere', async (t) => {
  const { fault } = await judge(generate('containers', 841840))
  t.strictSame(fault, null)
})

// Weights that are halved and halved again: many scales fit them equally well, and every kernel is to choose the same.
for (const seed of [1500120, 1500362])
  t.test(`weights of few bits that change: ${seed}`, async (t) => {
    const { fault } = await judge(generate('layers', seed))
    t.strictSame(fault, null)
  })

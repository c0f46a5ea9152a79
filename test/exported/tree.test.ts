import t from 'tap'
import { leavesOf, readTree, type Tree } from '../../formats/exported/tree.js'
import { ValueBudget } from '../../formats/containers/value-budget.js'

const leaf = { type: null, context: null, children_spec: [] }
const of = (type: string, context: unknown, children: unknown[]): object => ({
  type,
  context: typeof context === 'string' ? context : JSON.stringify(context),
  children_spec: children,
})
const read = (root: unknown, version: unknown = 1): Tree =>
  readTree(JSON.stringify([version, root]), new Map([['m.Pair', ['a', 'b']]]), new ValueBudget(10_000))

t.test('containers', (t) => {
  const children = [{ kind: 'leaf' }, { kind: 'leaf' }] as const
  t.strictSame(read(of('builtins.tuple', null, [leaf, leaf])), { kind: 'tuple', children })
  t.strictSame(read(of('builtins.list', null, [leaf, leaf])), { kind: 'list', children })
  t.strictSame(read(of('builtins.dict', ['x', 3], [leaf, leaf])), { kind: 'dict', keys: ['x', 3], children })
  t.strictSame(read(of('collections.OrderedDict', ['x', 'y'], [leaf, leaf])), { kind: 'dict', keys: ['x', 'y'], children })
  t.strictSame(read(of('collections.namedtuple', 'm.Pair', [leaf, leaf])), {
    kind: 'namedtuple',
    name: 'm.Pair',
    fields: ['a', 'b'],
    children,
  })
  // classes that say what their values are called are dicts
  t.strictSame(read(of('lib.Output', ['loss', 'logits'], [leaf, leaf])), { kind: 'dict', keys: ['loss', 'logits'], children })
  t.strictSame(read(of('lib.Data', [['u', 'v'], ['none']], [leaf, leaf])), { kind: 'dict', keys: ['u', 'v'], children })
  t.strictSame(read(of('lib.Other', 'no JSON', [leaf, leaf])), { kind: 'tuple', children })
  t.equal(leavesOf(read(of('builtins.tuple', null, [leaf, of('builtins.list', null, [leaf, leaf])]))), 3)
  t.end()
})

t.test('what is no tree', (t) => {
  const deep = (levels: number): unknown => (levels === 0 ? leaf : of('builtins.list', null, [deep(levels - 1)]))
  const wrong: readonly [unknown, RegExp][] = [
    [of('builtins.dict', ['x'], [leaf, leaf]), /1 keys for 2 values/],
    [of('builtins.dict', ['x', 'x'], [leaf, leaf]), /one of them twice/],
    [of('builtins.dict', null, [leaf]), /the keys of a dict/],
    [of('builtins.dict', [1.5], [leaf]), /a key/],
    [of('collections.namedtuple', 'm.Pair', [leaf]), /named tuple of 1 values/],
    [of('collections.namedtuple', 'm.Unknown', [leaf]), /named tuple of 1 values/],
    [{ type: 3, context: null, children_spec: [] }, /expected a text/],
    [{ type: 'builtins.list', context: null }, /expected a list/],
    [[], /expected an object/],
    [deep(100), /nested more than/],
  ]
  for (const [root, message] of wrong) t.throws(() => read(root), { code: 'INVALID_FILE', message })
  t.throws(() => read(leaf, 2), { code: 'UNSUPPORTED_FILE', message: /version 2/ })
  t.end()
})

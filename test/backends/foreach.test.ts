import t from 'tap'
import { callOperator, operators, type Input, type Tensor, tensor } from '../../src/index.js'

const forms = operators()
  .map((o) => `${o.name}${o.overload === '' ? '' : `.${o.overload}`}`)
  .filter((name) => name.startsWith('aten::_foreach_'))

const lists = (count: number): Tensor[][] =>
  Array.from({ length: count }, (_, k) => [tensor([0.5, 0.25 + k, 0.75], [3], 'float32'), tensor([0.1 * (k + 1)], [1, 1], 'float32')])

/** Arguments for an operator of this overload: lists first, then numbers. */
function argumentsOf(name: string): Input[] {
  const overload = name.split('.')[1] ?? ''
  const isLerp = name.includes('lerp')
  const pairs = overload.startsWith('List') || name.includes('copy') || isLerp ? 2 : 1
  const count = name.includes('addc') || (isLerp && overload.startsWith('List')) ? 3 : pairs
  if (overload.startsWith('Tensor')) return [...lists(count), count === 3 ? tensor([2, 3], [2], 'float32') : tensor([2], [], 'float32')]
  const numbers: Input[] = overload.startsWith('ScalarList') ? [[2, 3]] : overload.startsWith('Scalar') ? [2] : []
  return [...lists(count), ...numbers]
}

const numbersOf = (list: Tensor[]): unknown => list.map((x) => x.toArray())

t.test('in-place and out= forms do what the functional ones do', (t) => {
  const functional = forms.filter(
    (name) => !/_\.|_$|out$/.test(name) && forms.some((form) => form.startsWith(name) && form.endsWith('out')),
  )
  t.equal(functional.length, 75)
  for (const name of functional) {
    const expected = numbersOf(callOperator(name, argumentsOf(name)) as Tensor[])
    const [base, overload] = name.split('.') as [string, string | undefined]
    const inPlace = `${base}_${overload === undefined ? '' : `.${overload}`}`
    if (forms.includes(inPlace)) {
      const args = argumentsOf(name)
      callOperator(inPlace, args)
      t.strictSame(numbersOf(args[0] as Tensor[]), expected, inPlace)
    } else t.match(base, /^aten::_foreach_(?:clone|max|norm|powsum)$/)
    const args = argumentsOf(name)
    const outs = [tensor([0], [1], 'float32'), tensor([0], [1], 'float32')]
    const rest: Input[] = /_(?:add|sub)\.List$|_add\.Tensor$/.test(name)
      ? [1]
      : /copy$/.test(name)
        ? [false]
        : /clone$|(?:norm|powsum)\.Scalar$/.test(name)
          ? [null]
          : []
    callOperator(overload === undefined ? `${base}.out` : `${base}.${overload}_out`, [...args, ...rest, outs])
    t.strictSame(numbersOf(outs), expected, `${name} with out`)
  }
  t.end()
})

t.test('in-place extremes convert and keep the shape', (t) => {
  const ints = [tensor([1, 2], [2], 'int64')]
  callOperator('aten::_foreach_maximum_.List', [ints, [tensor([1.5, 0], [2], 'float32')]])
  t.strictSame(ints[0]!.toArray(), [1, 2])
  t.throws(() => callOperator('aten::_foreach_minimum_.List', [ints, [tensor([1, 2, 3, 4], [2, 2], 'int64')]]), { name: 'PtliteError' })
  t.end()
})

t.test('lists of other lengths and empty ones are refused', (t) => {
  const [a, b] = lists(2) as [Tensor[], Tensor[]]
  const refused = (name: string, args: Input[]): void => void t.throws(() => callOperator(name, args), { name: 'PtliteError' }, name)
  refused('aten::_foreach_add.List', [a, b.slice(1)])
  refused('aten::_foreach_add_.ScalarList', [a, [1]])
  refused('aten::_foreach_addcmul.Scalar', [a, b, b.slice(1), 1])
  refused('aten::_foreach_add.Tensor', [a, tensor([1], [1], 'float32')])
  refused('aten::_foreach_addcmul.Tensor', [a, b, b, tensor([1, 2, 3], [3], 'float32')])
  refused('aten::_foreach_addcmul.Tensor', [a, b, b, tensor([1, 2], [1, 2], 'float32')])
  refused('aten::_foreach_abs', [[]])
  refused('aten::_foreach_abs.out', [a, b.slice(1)])
  t.end()
})

import t from 'tap'
import { callOperator, type Input, int, loadModule, tensor, type Tensor, type Output } from '../../src/index.js'
import { fixturePath } from '../module/fixtures.js'

/** Generators as objects; their sequences are among the cases of golden-operators.test.ts. */

const generator = (...seed: Input[]): Input => callOperator('aten::Generator', [null, ...seed]) as Input
const draw = (from: Input): unknown => (callOperator('aten::rand.generator', [[3], from]) as Tensor).toArray()

t.test('seeds', (t) => {
  t.equal(callOperator('aten::initial_seed', [generator()]), 67280421310721, "PyTorch's default")
  t.equal(callOperator('aten::initial_seed', [generator(-5)]), -5)
  t.equal(callOperator('aten::initial_seed', [generator(int(2n ** 63n - 1n))]), 2n ** 63n - 1n)
  const g = generator(3)
  const first = draw(g)
  t.notSame(draw(g), first)
  t.equal(callOperator('aten::initial_seed', [g]), 3, 'drawing leaves the seed')
  t.equal(callOperator('aten::manual_seed.generator', [g, 3]), g)
  t.same(draw(g), first)
  const seed = callOperator('aten::seed', [g]) as bigint
  t.equal(callOperator('aten::initial_seed', [g]), seed)
  t.same(draw(generator(seed)), draw(g))
  t.not(callOperator('aten::seed', [g]), seed)
  t.end()
})

t.test('a generator leaves the others alone', (t) => {
  const own = () => (callOperator('aten::rand', [[3]]) as Tensor).toArray()
  callOperator('aten::manual_seed', [7])
  const expected = [own(), own()]
  callOperator('aten::manual_seed', [7])
  const found = [own()]
  draw(generator(1))
  const g = generator(7)
  t.same(draw(g), expected[0])
  found.push(own())
  t.same(found, expected)
  t.same(draw(g), expected[1])
  t.end()
})

t.test('generators are those of the CPU', (t) => {
  t.equal(callOperator('aten::str', [generator(1)]), 'Generator')
  t.same(draw(callOperator('aten::Generator', ['cpu', 0]) as Input), draw(generator(0)))
  t.throws(() => callOperator('aten::Generator', ['cuda', 0]), { code: 'MODEL_ERROR', message: /on the CPU, found device cuda/ })
  t.throws(() => draw(5), { code: 'INVALID_ARGUMENT', message: /'generator' must be Generator\?, found int 5/ })
  t.throws(() => callOperator('aten::initial_seed', [null]), { code: 'INVALID_ARGUMENT' })
  t.throws(() => callOperator('aten::randint_like.Tensor', [tensor([1], [1], 'float32'), tensor([9], [1], 'int64')]), {
    code: 'INVALID_ARGUMENT',
    message: /without dimensions/,
  })
  t.end()
})

for (const kind of ['ptl', 'ff']) {
  t.test(`generators.${kind}: programs that make generators`, async (t) => {
    const module = await loadModule(fixturePath(`generators.${kind}`))
    const three = [0.8302518725395203, 0.12611091136932373, 0.9074696898460388]
    const lists = (tensors: unknown): unknown => (tensors as Tensor[]).map((x) => x.toArray())
    for (const how of ['call', 'run'] as const) {
      const call = (name: string, args: readonly Input[]): Output | Promise<Output> =>
        how === 'call' ? module.call(name, args) : module.run(name, args)
      const [first, again, seed] = (await call('forward', [5, 3])) as [Tensor, Tensor, number]
      t.same([first.toArray(), again.toArray(), seed], [three, three, 5])
      const interleaved = (lists(await call('interleaved', [5])) as number[][]).map(([x]) => x!.toFixed(4))
      t.same(interleaved, ['-0.4868', '-1.8744', '-0.5581', '0.7185'])
      t.equal(await call('fresh', [5]), true)
    }
    // one generator, whoever made it and wherever it is drawn from
    for (const g of [module.call('make', [5]), await module.run('make', [5]), callOperator('aten::Generator', [null, 5])]) {
      const drawn = [module.call('draw', [g as Input, 1]), await module.run('draw', [g as Input, 1]), module.call('draw', [g as Input, 1])]
      t.same((lists(drawn) as number[][]).flat(), three)
    }
    t.throws(() => module.call('draw', [5, 1]), { code: 'INVALID_ARGUMENT' })
    module.dispose()
  })
}

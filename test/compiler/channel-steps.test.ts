import t from 'tap'
import { channelSteps } from '../../compiler/passes/fuse/channel-steps.js'
import { tensor } from '../../src/index.js'
import { chain, passChecks, random } from './pass-checks.js'

const { parse, check } = passChecks({
  gamma: random([3]),
  mean: random([3]),
  variance: tensor([0.5, 1, 1.5], [3]),
  slopes: tensor([-0.5, 0, 2], [3]),
  'small slopes': tensor([0.25, 0.1, 1], [3]),
  'no slopes': tensor([0.25, Infinity, 1], [3]),
})

const CONSTANTS = `constant %10: float32[3] @10 = "gamma"
constant %11: float32[3] @11 = "mean"
constant %12: float32[3] @12 = "variance"
`
const slopes = (name: string): string => `constant %10: float32[3] @10 = "${name}"\n`

t.test('batch norms become a product and a sum', (t) => {
  for (const shape of ['2, 3, 4, 5', '2, 3, 4', '2, 3', '1, 3, 2, 2, 2']) {
    const graph = check(
      t,
      channelSteps,
      chain(shape, ['batch_norm(%0, %10, %11, %11, %12, False, 0.1, 1e-05, True)'], CONSTANTS),
      ['aten::mul.Tensor', 'aten::add.Tensor'],
      1e-6,
    )
    t.equal(channelSteps.run(graph), graph)
  }
  check(
    t,
    channelSteps,
    chain('2, 3, 4', ['batch_norm(%0, None, None, %11, %12, False, 0.1, 1e-05, True)'], CONSTANTS),
    ['aten::mul.Tensor', 'aten::add.Tensor'],
    1e-6,
  )
  const stays = (text: string): void => {
    const graph = parse(text)
    t.equal(channelSteps.run(graph), graph, text)
  }
  stays(chain('2, 3, 4', ['batch_norm(%0, None, None, None, None, True, 0.1, 1e-05, True)'], CONSTANTS))
  stays(
    `input %0: float32[2, 3, 4] strides [12, 1, 3] @0\n${CONSTANTS}%1: float32[2, 3, 4] strides [12, 1, 3] @1 = aten::batch_norm(%0, %10, %11, %11, %12, False, 0.1, 1e-05, True)\nreturn %1\n`,
  )
  t.end()
})

t.test('prelu becomes a maximum, or a sum of both sides', (t) => {
  for (const shape of ['2, 3, 4, 5', '2, 3']) {
    const small = chain(shape, ['prelu(%0, %10)'], slopes('small slopes'))
    check(t, channelSteps, small, ['aten::mul.Tensor', 'aten::maximum'])
    const any = chain(shape, ['prelu(%0, %10)'], slopes('slopes'))
    check(t, channelSteps, any, ['aten::clamp_max', 'aten::mul.Tensor', 'aten::clamp_min', 'aten::add.Tensor'])
  }
  const infinite = parse(chain('2, 3', ['prelu(%0, %10)'], slopes('no slopes')))
  t.equal(channelSteps.run(infinite), infinite)
  t.end()
})

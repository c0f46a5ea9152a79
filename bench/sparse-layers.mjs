// Pointwise convolutions of ResNet-50 with 90 % zero blocks, bias, and a chain behind them: the layer alone, with the chain as a pass of its
// own, and with the chain in its registers; over planes of channels and over channels in blocks of 16. One image.
//
//   node sparse-layers.mjs [--rounds 40] [--threads 1,2]
import { parseArgs } from 'node:util'
import { callOperator, float, setNumThreads, tensor } from '../dist/index.js'
import { best, floats, weightOf } from './lib/sparse.mjs'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '40' }, threads: { type: 'string', default: '1,2' } } })
const LAYERS = [
  [64, 256, 56],
  [128, 512, 28],
  [256, 1024, 14],
  [512, 2048, 7],
  [256, 64, 56],
  [1024, 256, 14],
]
// steps as ptlite::fused has them; value 0 is the layer's result, value 1 the residual
const [GELU, RELU, ADD] = [3, 4, 28]
const CHAINS = {
  'residual + relu': [
    [ADD, RELU],
    [0, 1, 2, 0],
  ],
  'gelu + residual': [
    [GELU, ADD],
    [0, 0, 2, 1],
  ],
}
const NO_LIMITS = [float(-Infinity), float(Infinity)]
const NUMBERS = [0, 0, 0, 0].map((x) => float(x))

/** The three ways to compute a layer and its chain. */
function variants(op, args, residual, [ops, operands]) {
  const alone = () => callOperator(op, [...args, ...NO_LIMITS])
  const pass = () => {
    const y = alone()
    const z = callOperator('ptlite::fused', [[y, residual], [...residual.shape], ops, operands, NUMBERS])
    y.dispose()
    return z
  }
  const together = () => callOperator(`${op}_post`, [...args, ...NO_LIMITS, [residual], ops, operands, NUMBERS])
  return [alone, pass, together]
}

console.log('| threads | chain | layer | planes: alone, ms | a pass | in registers | blocks: alone, ms | a pass | in registers |')
console.log('|---|---|---|---|---|---|---|---|---|')
for (const threads of values.threads.split(',').map(Number)) {
  setNumThreads(threads)
  for (const [name, chain] of Object.entries(CHAINS)) {
    for (const [k, n, size] of LAYERS) {
      const [x, bias, residual] = [[1, k, size, size], [n], [1, n, size, size]].map((shape) =>
        tensor(floats(shape.reduce((a, b) => a * b)), shape),
      )
      const weight = weightOf(n, k, 0.9, [1, 1])
      const [xBlocks, residualBlocks] = [x, residual].map((t) => callOperator('ptlite::to_blocked', [t]))
      const filter = callOperator('ptlite::blocked_filter', [weight])
      const times = best(
        [
          ...variants('ptlite::sparse_convolution', [x, weight, bias], residual, chain),
          ...variants('ptlite::sparse_blocked_convolution', [xBlocks, filter, bias, null], residualBlocks, chain),
        ],
        threads,
        Number(values.rounds),
      )
      console.log(`| ${threads} | ${name} | ${k} → ${n}, ${size} x ${size} | ${times.map((t) => t.toFixed(3)).join(' | ')} |`)
      for (const t of [x, bias, residual, weight, xBlocks, residualBlocks, filter]) t.dispose()
    }
  }
}

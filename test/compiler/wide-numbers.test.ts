import t, { type Test } from 'tap'
import type { Graph } from '../../compiler/graph/graph.js'
import { printGraph } from '../../compiler/graph/print.js'
import { wideNumbers } from '../../compiler/passes/lower/wide-numbers.js'
import { DEFAULT_OPTIONS, type Pass } from '../../compiler/passes/pass.js'
import { optimize } from '../../compiler/passes/pipeline.js'
import type { Target } from '../../compiler/target/target.js'
import { WeightFormat } from '../../runtime/native/generated/kernels.js'
import { type Tensor, tensor } from '../../src/index.js'
import { cleaned, HOST, operators, passChecks, random } from './pass-checks.js'

/** Convolutions of images of 16-bit floats, which are float32 in plans. */

type Half = 'bfloat16' | 'float16'
const HALVES = ['bfloat16', 'float16'] as const
const CODES = { bfloat16: 15, float16: 5 } as const
/** A result may be rounded to the next number, and so may what it is made of. */
const BOUNDS = { bfloat16: 2 ** -7, float16: 2 ** -10 } as const

const FILTERS = {
  filter: [32, 32, 3, 3],
  pointwise: [256, 256, 1, 1],
  few: [32, 3, 7, 7],
  grouped: [32, 8, 3, 3],
  single: [32, 1, 5, 5],
  volume: [32, 32, 3, 3, 3],
  turned: [32, 16, 2, 2],
} as const

/** Numbers whose sums float16 has room for. */
function small(shape: readonly number[]): Tensor {
  return tensor(
    (random([...shape]).data() as Float32Array).map((x) => x / 16),
    [...shape],
  )
}

function weightsOf(dtype: Half): Readonly<Record<string, Tensor>> {
  const numbers: Readonly<Record<string, Tensor>> = {
    ...Object.fromEntries(Object.entries(FILTERS).map(([name, shape]) => [name, small(shape)])),
    bias: random([32]),
    mean: random([32]),
    variance: tensor(Float32Array.from({ length: 32 }, (_, i) => 0.5 + (i % 5))),
  }
  return Object.fromEntries(Object.entries(numbers).map(([name, t]) => [`${name} of ${dtype}`, t.to(dtype)]))
}

/** A filter of float32 that products round. */
function rounded(format: number, bytes: boolean): Tensor {
  const filter = small(FILTERS.filter)
  filter.storage.rounding = { format, group: 0, bytes }
  return filter
}

const { check, parse } = passChecks({
  ...weightsOf('bfloat16'),
  ...weightsOf('float16'),
  'rounded to bfloat16': rounded(WeightFormat.bfloat16, false),
  'rounded to float16': rounded(WeightFormat.float16, false),
  'rounded to bfloat16 with bytes': rounded(WeightFormat.bfloat16, true),
  'rounded to int8': rounded(WeightFormat.int8, false),
})

/** This machine, without tiles. */
const TARGET: Target = { ...HOST, capabilities: { ...HOST.capabilities, tiles: false } }
const all: Pass = { name: 'all', run: (graph) => optimize(graph, undefined, DEFAULT_OPTIONS, TARGET) }
const pass = cleaned(wideNumbers(TARGET, DEFAULT_OPTIONS))

/** What a pass leaves of a graph, whose results stay within the bounds. */
function checked(t: Test, by: Pass, text: string, dtype: Half): Graph {
  return check(t, by, text, operators(by.run(parse(text))), BOUNDS[dtype])
}

/** A graph from an input %0 of these sizes, with the lines of `body`, in which D stands for the dtype; %9 is its result. */
function graphOf(dtype: Half, sizes: string, body: string, result: string): string {
  return `input %0: D[${sizes}] @0
${body}%99: float32[${result}] @99 = aten::to.dtype(%9, 6, False, False, None)
return %99
`
    .replaceAll('D[', `${dtype}[`)
    .replaceAll(' of D"', ` of ${dtype}"`)
}

interface Layer {
  readonly filter: keyof typeof FILTERS
  readonly sizes: string
  readonly out: string
  readonly settings: string
}

const layer = (dtype: Half, { filter, sizes, out, settings }: Layer): string =>
  graphOf(
    dtype,
    sizes,
    `constant %1: D[${FILTERS[filter].join(', ')}] @1 = "${filter} of D"
constant %2: D[32] @2 = "bias of D"
%9: D[${out}] @9 = aten::conv${FILTERS[filter].length - 2}d(%0, %1, ${FILTERS[filter][0] === 32 ? '%2' : 'None'}, ${settings})
`,
    out,
  )

const LAYERS: Readonly<Record<string, Layer>> = {
  'taps of 3x3': { filter: 'filter', sizes: '2, 32, 30, 29', out: '2, 32, 30, 29', settings: '[1, 1], [1, 1], [1, 1], 1' },
  'every second pixel': { filter: 'filter', sizes: '1, 32, 41, 40', out: '1, 32, 21, 20', settings: '[2, 2], [1, 1], [1, 1], 1' },
  'taps that are apart': { filter: 'filter', sizes: '1, 32, 41, 40', out: '1, 32, 37, 36', settings: '[1, 1], [0, 0], [2, 2], 1' },
  'one tap': { filter: 'pointwise', sizes: '1, 256, 14, 14', out: '1, 256, 14, 14', settings: '[1, 1], [0, 0], [1, 1], 1' },
  'few channels': { filter: 'few', sizes: '1, 3, 64, 64', out: '1, 32, 32, 32', settings: '[2, 2], [3, 3], [1, 1], 1' },
  groups: { filter: 'grouped', sizes: '1, 32, 40, 40', out: '1, 32, 40, 40', settings: '[1, 1], [1, 1], [1, 1], 4' },
  'single channels': { filter: 'single', sizes: '1, 32, 40, 40', out: '1, 32, 40, 40', settings: '[1, 1], [2, 2], [1, 1], 32' },
  volumes: { filter: 'volume', sizes: '1, 32, 5, 20, 20', out: '1, 32, 5, 20, 20', settings: '[1, 1, 1], [1, 1, 1], [1, 1, 1], 1' },
}

t.test('convolutions over blocks of channels', (t) => {
  for (const dtype of HALVES) {
    for (const [name, how] of Object.entries(LAYERS)) {
      t.test(`${name}, ${dtype}`, (t) => {
        const text = layer(dtype, how)
        const printed = printGraph(checked(t, all, text, dtype))
        t.match(printed, /convolution\(.*layout="blocks"/)
        t.equal(printed.includes(`: ${dtype}[`), true)
        // what is left of the module's numbers
        const filters = printed.split('\n').filter((line) => line.includes('in blocks"') && !line.includes('bias'))
        t.match(filters.join('\n'), how.filter === 'single' ? /: float32\[/ : new RegExp(`: ${dtype}\\[`))
        t.end()
      })
    }
  }
  t.end()
})

/** Layers of a network with everything that stays float32 between them. */
const network = (dtype: Half): string =>
  graphOf(
    dtype,
    '2, 32, 24, 24',
    `constant %1: D[32, 32, 3, 3] @1 = "filter of D"
constant %2: D[32] @2 = "bias of D"
constant %3: D[32] @3 = "mean of D"
constant %4: D[32] @4 = "variance of D"
%10: D[2, 32, 24, 24] @10 = aten::conv2d(%0, %1, None, [1, 1], [1, 1], [1, 1], 1)
%11: D[2, 32, 24, 24] @11 = aten::batch_norm(%10, %4, %2, %3, %4, False, 0.1, 0.001, True)
%12: D[2, 32, 24, 24] @12 = aten::silu(%11)
%13: D[2, 32, 24, 24] @13 = aten::add.Tensor(%12, %0, 1)
%14: D[2, 32, 12, 12] @14 = aten::max_pool2d(%13, [2, 2], [2, 2], [0, 0], [1, 1], False)
%15: D[2, 32, 12, 12] @15 = aten::conv2d(%14, %1, %2, [1, 1], [1, 1], [1, 1], 1)
%16: D[2, 16, 12, 12] strides [4608, 144, 12, 1] from 2304 @15 = aten::slice.Tensor(%15, 1, 16, 32, 1)
%17: D[2, 16, 12, 12] strides [4608, 144, 12, 1] @15 = aten::slice.Tensor(%15, 1, 0, 16, 1)
%18: D[2, 64, 12, 12] @18 = aten::cat([%17, %14, %16], 1)
%19: D[2, 32, 12, 12] strides [9216, 144, 12, 1] @18 = aten::slice.Tensor(%18, 1, 0, 32, 1)
%20: D[2, 32, 12, 12] @20 = aten::conv2d(%19, %1, %2, [1, 1], [1, 1], [1, 1], 1)
%21: D[2, 32, 12, 12] @21 = aten::relu(%20)
%22: D[2, 32] @22 = aten::mean.dim(%21, [2, 3], False, None)
%9: D[2, 32] @9 = aten::softmax.int(%22, 1, None)
`,
    '2, 32',
  )

t.test('what works on results of convolutions', (t) => {
  for (const dtype of HALVES) {
    const text = network(dtype)
    const wide = checked(t, pass, text, dtype)
    const narrow = wide.nodes
      .flatMap((node) => node.results)
      .filter((result) => result.kind === 'value' && wide.values.get(result.id)!.type.dtype === CODES[dtype])
    t.equal(narrow.length, 2, 'a mean and a softmax have 16 bits')
    checked(t, all, text, dtype)
  }
  t.end()
})

t.test('what is read in 16 bits, too', (t) => {
  for (const dtype of HALVES) {
    const text = graphOf(
      dtype,
      '1, 32, 24, 24',
      `constant %1: D[32, 32, 3, 3] @1 = "filter of D"
%10: D[1, 32, 24, 24] @10 = aten::conv2d(%0, %1, None, [1, 1], [1, 1], [1, 1], 1)
%11: D[1, 32, 576] @10 = aten::reshape(%10, [1, 32, 576])
%12: D[1, 32, 576] @12 = aten::flip(%11, [2])
%13: D[1, 32, 576] @13 = aten::mul.Tensor(%11, %12)
%14: D[1, 32, 24, 24] @13 = aten::reshape(%13, [1, 32, 24, 24])
%9: D[1, 32, 24, 24] @9 = aten::conv2d(%14, %1, None, [1, 1], [1, 1], [1, 1], 1)
`,
      '1, 32, 24, 24',
    )
    const after = checked(t, pass, text, dtype)
    t.equal(operators(after).filter((op) => op === 'aten::reshape').length, 3, 'a view of either')
    checked(t, all, text, dtype)
  }
  t.end()
})

t.test('convolutions that turn blocks of channels back, and what no kernel of blocks computes', (t) => {
  for (const dtype of HALVES) {
    const text = graphOf(
      dtype,
      '1, 32, 24, 24',
      `constant %1: D[32, 32, 3, 3] @1 = "filter of D"
constant %2: D[32, 16, 2, 2] @2 = "turned of D"
%10: D[1, 32, 24, 24] @10 = aten::conv2d(%0, %1, None, [1, 1], [1, 1], [1, 1], 1)
%11: D[1, 16, 48, 48] @11 = aten::conv_transpose2d.input(%10, %2, None, [2, 2], [0, 0], [0, 0], 1, [1, 1])
%9: D[1, 16, 48, 48] @9 = aten::tanh(%11)
`,
      '1, 16, 48, 48',
    )
    checked(t, pass, text, dtype)
    checked(t, all, text, dtype)
    // a single pixel
    const pixel = parse(
      layer(dtype, { filter: 'pointwise', sizes: '1, 256, 1, 1', out: '1, 256, 1, 1', settings: '[1, 1], [0, 0], [1, 1], 1' }),
    )
    t.equal(wideNumbers(TARGET, DEFAULT_OPTIONS).run(pixel), pixel)
  }
  t.end()
})

t.test('filters of float32 that are rounded to 16 bits', (t) => {
  const text = (filter: string): string => `input %0: float32[1, 32, 30, 30] @0
constant %1: float32[32, 32, 3, 3] @1 = "rounded to ${filter}"
%2: float32[1, 32, 15, 15] @2 = aten::conv2d(%0, %1, None, [2, 2], [1, 1], [1, 1], 1)
return %2
`
  const printed = (filter: string): string => {
    const graph = parse(text(filter))
    return printGraph(check(t, all, text(filter), operators(all.run(graph)), 2e-6))
  }
  for (const dtype of HALVES) t.match(printed(dtype), new RegExp(`constant %\\d+: ${dtype}\\[2, 3, 3, 32, 16\\]`))
  for (const others of ['bfloat16 with bytes', 'int8']) t.notMatch(printed(others), 'layout="blocks"', 'kernels of their own read planes')
  t.end()
})

t.test('tiles multiply bfloat16 as it is', (t) => {
  const tiles = wideNumbers({ ...TARGET, capabilities: { ...TARGET.capabilities, tiles: true } }, DEFAULT_OPTIONS)
  const [narrow, other] = HALVES.map((dtype) => parse(layer(dtype, LAYERS['one tap']!))) as [Graph, Graph]
  t.equal(tiles.run(narrow), narrow)
  t.not(tiles.run(other), other)
  t.end()
})

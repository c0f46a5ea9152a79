import t, { type Test } from 'tap'
import { GraphRunner } from '../../compiler/graph/execute.js'
import type { Graph } from '../../compiler/graph/graph.js'
import { parseGraph } from '../../compiler/graph/parse.js'
import { printGraph } from '../../compiler/graph/print.js'
import { verifyGraph } from '../../compiler/graph/verify.js'
import { activation } from '../../compiler/passes/fuse/activation.js'
import { canonical } from '../../compiler/passes/canonical/canonical.js'
import { channelSteps } from '../../compiler/passes/fuse/channel-steps.js'
import { constantFolding } from '../../compiler/passes/canonical/constant-folding.js'
import { convolutionStrategy } from '../../compiler/passes/lower/convolution-strategy.js'
import { elementwise } from '../../compiler/passes/fuse/elementwise.js'
import { layout } from '../../compiler/passes/lower/layout.js'
import type { Pass } from '../../compiler/passes/pass.js'
import { postOps } from '../../compiler/passes/lower/post-ops.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'
import { Random, real } from '../backends/support/random.js'
import { HOST, operators } from './pass-checks.js'

const random = new Random(3)
const sized = (shape: number[], from = random): Tensor => real(from.data(shape.reduce((a, b) => a * b, 1)), shape, 'float32')
const others = new Random(5)

/** Channels 32 by shape: name_kh_inputs. */
const WEIGHTS: Readonly<Record<string, Tensor>> = {
  first: sized([32, 3, 3, 3]),
  three: sized([32, 32, 3, 3]),
  point: sized([32, 32, 1, 1]),
  each: sized([32, 1, 3, 3]),
  grouped: sized([32, 8, 3, 3]),
  stem: sized([32, 3, 3, 7, 7], others),
  space: sized([32, 32, 3, 3, 3], others),
  slices: sized([32, 32, 3, 1, 1], others),
  shortcut: sized([32, 32, 1, 1, 1], others),
  scale: sized([32, 1, 1, 1], others),
  slope: sized([1]),
  bias: sized([32]),
  variance: real(
    Float64Array.from({ length: 32 }, (_, i) => 0.5 + i / 32),
    [32],
    'float32',
  ),
}
const CONSTANTS = `constant %1: float32[32, 3, 3, 3] @1 = "first"
constant %2: float32[32, 32, 3, 3] @2 = "three"
constant %3: float32[32, 32, 1, 1] @3 = "point"
constant %4: float32[32, 1, 3, 3] @4 = "each"
constant %5: float32[32] @5 = "bias"
constant %6: float32[32] @6 = "variance"
constant %7: float32[1] @7 = "slope"
constant %8: float32[32, 8, 3, 3] @8 = "grouped"
`

function parse(text: string): Graph {
  const graph = parseGraph(text, { constant: (name) => WEIGHTS[name]! })
  verifyGraph(graph)
  return graph
}

/** Checks which operators are left after passes `inFront`, layout, activation and passes `behind`, and that outputs stay within the bound of Winograd's algorithm. */
function check(
  t: Test,
  lines: readonly string[],
  left: readonly string[],
  behind: readonly Pass[] = [],
  inFront: readonly Pass[] = [],
): void {
  const used = CONSTANTS.split('\n').filter((line) => lines.some((l) => new RegExp(`${line.slice(9, 11)}\\b`).test(l)))
  const [input, ...rest] = lines
  const before = parse([input, ...used, ...rest, ''].join('\n'))
  const final = [...inFront, layout(HOST), activation, ...behind].reduce((graph, pass) => {
    const after = pass.run(graph)
    verifyGraph(after)
    return after
  }, before)
  t.strictSame(
    // which of the two depends on the cache sizes of the CPU
    operators(final).map((op) => op.replace('ptlite::', '').replace('winograd_', 'blocked_')),
    left,
    printGraph(final),
  )
  const inputs = before.inputs.map((id) => sized([...before.values.get(id)!.type.shape]))
  const outputs = (graph: Graph): number[] => {
    const found = new GraphRunner(graph).run(inputs, true)
    return (Array.isArray(found) ? (found as Tensor[]) : [found as Tensor]).flatMap((y) => [...(y.data() as Float32Array)])
  }
  const [want, got] = [outputs(before), outputs(final)]
  const scale = Math.max(...want.map(Math.abs))
  const error = Math.max(...want.map((x, i) => Math.abs(x - got[i]!))) / scale
  t.ok(error < 2e-5, `off by ${error}`)
}

const IMAGE = 'input %0: float32[1, 3, 32, 32] @0'
const PLANES = 'input %0: float32[1, 32, 16, 16] @0'
const VOLUME = `constant %30: float32[32, 3, 3, 7, 7] @30 = "stem"
constant %31: float32[32, 32, 3, 3, 3] @31 = "space"
constant %32: float32[32, 32, 3, 1, 1] @32 = "slices"
constant %33: float32[32, 32, 1, 1, 1] @33 = "shortcut"
constant %34: float32[32, 1, 1, 1] @34 = "scale"`
const planes = (id: number, size = 16): string => `%${id}: float32[1, 32, ${size}, ${size}] @${id}`
const conv = (id: number, from: number, weight: number, stride = 1, padding = 1, groups = 1): string =>
  `${planes(id, 16)} = aten::conv2d(%${from}, %${weight}, %5, [${stride}, ${stride}], [${padding}, ${padding}], [1, 1], ${groups})`

t.test('a network from image to means stays in blocks', (t) => {
  check(
    t,
    [
      IMAGE,
      conv(10, 0, 1, 2),
      `${planes(11)} = aten::relu(%10)`,
      conv(12, 11, 4, 1, 1, 32),
      `${planes(13)} = aten::relu6(%12)`,
      conv(14, 13, 3, 1, 0),
      `${planes(15, 8)} = aten::max_pool2d(%14, [3, 3], [2, 2], [1, 1], [1, 1], False)`,
      '%16: float32[1, 32] @16 = aten::mean.dim(%15, [2, 3], False, None)',
      'return %16',
    ],
    ['blocked_convolution', 'blocked_depthwise', 'blocked_convolution', 'blocked_max_pool', 'blocked_mean', 'aten::reshape'],
  )
  t.end()
})

t.test('a sum becomes the residual of the convolution made last, and its relu a limit', (t) => {
  for (const [a, b] of [
    [12, 11],
    [11, 12],
  ]) {
    check(
      t,
      [
        PLANES,
        conv(10, 0, 2),
        conv(11, 10, 3, 1, 0),
        conv(12, 10, 2),
        `${planes(13)} = aten::add.Tensor(%${a}, %${b}, 1)`,
        `${planes(14)} = aten::relu(%13)`,
        'return %14',
      ],
      ['to_blocked', 'blocked_convolution', 'blocked_convolution', 'blocked_convolution', 'from_blocked'],
    )
  }
  // read elsewhere, or with a factor: a sum of its own
  check(
    t,
    [PLANES, conv(10, 0, 2), conv(11, 10, 2), `${planes(12)} = aten::add.Tensor(%11, %10, 2)`, 'return (%12, %11)'].map((line) =>
      line.replace('return (%12, %11)', 'return [%12, %11]'),
    ),
    ['to_blocked', 'blocked_convolution', 'blocked_convolution', 'from_blocked', 'aten::add.Tensor', 'from_blocked'],
  )
  t.end()
})

t.test('a network of volumes stays in blocks', (t) => {
  const volume = (id: number, depth = 4, size = 10): string => `%${id}: float32[1, 32, ${depth}, ${size}, ${size}] @${id}`
  const conv3d = (args: string): string => `aten::conv3d(${args}, 1)`
  check(
    t,
    [
      'input %0: float32[1, 3, 4, 20, 20] @0',
      VOLUME,
      `${volume(40)} = ${conv3d('%0, %30, %5, [1, 2, 2], [1, 3, 3], [1, 1, 1]')}`,
      `${volume(41)} = aten::relu(%40)`,
      `${volume(42)} = ${conv3d('%41, %31, %5, [1, 1, 1], [1, 1, 1], [1, 1, 1]')}`,
      `${volume(43)} = aten::mul.Tensor(%42, %34)`,
      `${volume(44)} = ${conv3d('%43, %32, None, [1, 1, 1], [1, 0, 0], [1, 1, 1]')}`,
      `${volume(45)} = aten::add.Tensor(%44, %41, 1)`,
      `${volume(46)} = aten::relu(%45)`,
      `${volume(47, 2, 5)} = ${conv3d('%46, %33, %5, [2, 2, 2], [0, 0, 0], [1, 1, 1]')}`,
      `${volume(48, 2, 5)} = aten::max_pool3d(%47, [1, 3, 3], [1, 1, 1], [0, 1, 1], [1, 1, 1], False)`,
      '%49: float32[1, 64, 2, 5, 5] @49 = aten::cat([%48, %47], 1)',
      '%50: float32[1, 64, 1, 1, 1] @50 = aten::adaptive_avg_pool3d(%49, [1, 1, 1])',
      '%51: float32[1, 64] @51 = aten::mean.dim(%49, [-1, -2, -3], False, None)',
      'return [%50, %51, %46]',
    ],
    [
      'blocked_convolution',
      'blocked_convolution +',
      'blocked_convolution',
      'from_blocked',
      'blocked_convolution',
      'blocked_max_pool',
      'aten::cat',
      'blocked_mean',
      'blocked_mean',
      'aten::reshape',
    ],
    [elementwise, postOps],
  )
  t.end()
})

t.test('element-wise steps go into the kernels', (t) => {
  check(
    t,
    [
      IMAGE,
      conv(10, 0, 1, 2),
      `${planes(11)} = aten::gelu(%10, "none")`,
      conv(12, 11, 4, 1, 1, 32),
      `${planes(13)} = aten::silu(%12)`,
      conv(14, 13, 2),
      `${planes(15)} = aten::gelu(%14, "none")`,
      `${planes(16)} = aten::add.Tensor(%15, %11, 1)`,
      conv(17, 16, 3, 1, 0),
      '%18: float32[1, 32] @18 = aten::mean.dim(%17, [2, 3], False, None)',
      'return %18',
    ],
    ['blocked_convolution +', 'blocked_depthwise +', 'blocked_convolution +', 'blocked_convolution', 'blocked_mean', 'aten::reshape'],
    [elementwise, postOps],
  )
  t.end()
})

t.test('every activation is a step of the kernel before it', (t) => {
  const calls = ['abs', 'exp', 'hardsigmoid', 'hardswish', 'log_sigmoid', 'mish', 'neg', 'selu', 'sigmoid', 'silu', 'sin', 'square', 'tanh']
    .map((name) => `${name}(%10)`)
    .concat(
      ['celu(%10, 1.5)', 'elu(%10, 1.2, 1, 1)', 'gelu(%10, "none")', 'gelu(%10, "tanh")', 'leaky_relu(%10, 0.1)', 'softplus(%10, 1, 20)'],
      ['prelu(%10, %5)', 'prelu(%10, %7)', 'rsub.Scalar(%10, 1, 1)', 'div.Scalar(%10, 3)', 'addcmul(%10, %10, %10, 1)'],
    )
  for (const call of calls) {
    for (const [weight, padding, groups, kernel] of [
      [2, 1, 1, 'blocked_convolution +'],
      [3, 0, 1, 'blocked_convolution +'],
      [4, 1, 32, 'blocked_depthwise +'],
      [8, 1, 4, 'blocked_grouped_convolution +'],
    ] as const) {
      const lines = [PLANES, conv(10, 0, weight, 1, padding, groups), `${planes(11)} = aten::${call}`, conv(12, 11, 2), 'return %12']
      check(t, lines, ['to_blocked', kernel, 'blocked_convolution', 'from_blocked'], [elementwise, postOps], [canonical, channelSteps])
    }
  }
  t.end()
})

t.test('numbers for each channel, or each pixel, are operands of steps', (t) => {
  const ofChannels = ['%20: float32[32, 1, 1] @5 = aten::view(%5, [32, 1, 1])', '%21: float32[1, 1, 16, 16] @0 = aten::narrow(%0, 1, 0, 1)']
  const lines = [
    PLANES,
    ...ofChannels,
    conv(10, 0, 2),
    `${planes(11)} = aten::gelu(%10, "none")`,
    `${planes(12)} = aten::batch_norm(%11, %5, %5, %5, %6, False, 0.1, 1e-05, True)`,
    conv(13, 12, 4, 1, 1, 32),
    `${planes(14)} = aten::prelu(%13, %5)`,
    `${planes(15)} = aten::mul.Tensor(%14, %20)`,
    conv(16, 15, 3, 1, 0),
    `${planes(17)} = aten::mul.Tensor(%16, %21)`,
    'return %17',
  ]
  check(
    t,
    lines,
    [
      'aten::narrow',
      'to_blocked',
      'blocked_convolution +',
      'blocked_depthwise +',
      'aten::reshape',
      'blocked_convolution +',
      'from_blocked',
    ],
    [elementwise, postOps],
    [constantFolding, channelSteps],
  )
  t.end()
})

t.test('rows of channels enter and leave the blocks without a turn through planes', (t) => {
  const rows = (id: number, storage = id): string => `%${id}: float32[1, 16, 16, 32] @${storage}`
  const last = '%10: float32[1, 32, 16, 16] strides [8192, 1, 512, 32] @0 = aten::permute(%0, [0, 3, 1, 2])'
  const asRows = (id: number, from: number): string =>
    `%${id}: float32[1, 16, 16, 32] strides [8192, 16, 1, 256] @${from} = aten::permute(%${from}, [0, 2, 3, 1])`
  const norm = (id: number, from: number): string => `${rows(id)} = aten::layer_norm(%${from}, [32], %5, %6, 1e-05, True)`
  const input = 'input %0: float32[1, 16, 16, 32] @0'
  check(
    t,
    [input, last, conv(11, 10, 2), asRows(12, 11), norm(13, 12), `${rows(14)} = aten::add.Tensor(%0, %12, 1)`, 'return [%13, %14]'],
    ['aten::permute', 'to_blocked', 'blocked_convolution', 'blocked_rows', 'aten::layer_norm', 'aten::add.Tensor'],
  )
  // tokens, copied or not
  const flat = '%12: float32[1, 32, 256] @11 = aten::flatten.using_ints(%11, 2, -1)'
  const tokens = '%13: float32[1, 256, 32] strides [8192, 1, 256] @11 = aten::transpose.int(%12, 1, 2)'
  const normed = '%15: float32[1, 256, 32] @15 = aten::layer_norm(%14, [32], %5, %6, 1e-05, True)'
  check(
    t,
    [input, last, conv(11, 10, 2), flat, tokens, '%14: float32[1, 256, 32] @14 = aten::contiguous(%13, 0)', normed, 'return %15'],
    ['aten::permute', 'to_blocked', 'blocked_convolution', 'blocked_rows', 'aten::reshape', 'aten::layer_norm'],
  )
  // planes are read, too
  check(
    t,
    [input, last, conv(11, 10, 2), asRows(12, 11), norm(13, 12), `${planes(14)} = aten::sin(%11)`, 'return [%13, %11, %14]'],
    ['aten::permute', 'to_blocked', 'blocked_convolution', 'from_blocked', 'blocked_rows', 'aten::layer_norm', 'aten::sin', 'from_blocked'],
  )
  // who returns the view, or looks at it in another way, sees its layout
  check(
    t,
    [input, last, conv(11, 10, 2), asRows(12, 11), 'return %12'],
    ['aten::permute', 'to_blocked', 'blocked_convolution', 'from_blocked', 'aten::permute'],
  )
  check(
    t,
    [
      input,
      last,
      conv(11, 10, 2),
      asRows(12, 11),
      '%13: float32[1, 16, 16, 32] strides [8192, 16, 1, 256] @13 = aten::neg(%12)',
      'return %13',
    ],
    ['aten::permute', 'to_blocked', 'blocked_convolution', 'from_blocked', 'aten::permute', 'aten::neg'],
  )
  t.end()
})

t.test('gates, concatenations and views', (t) => {
  check(
    t,
    [
      PLANES,
      conv(10, 0, 2),
      '%11: float32[1, 32, 1, 1] @11 = aten::adaptive_avg_pool2d(%10, [1, 1])',
      '%12: float32[1, 32, 1, 1] @12 = aten::sigmoid(%11)',
      `${planes(13)} = aten::mul.Tensor(%10, %12)`,
      conv(14, 13, 2),
      '%15: float32[1, 64, 16, 16] @15 = aten::cat([%13, %14], 1)',
      'return %15',
    ],
    [
      'to_blocked',
      'blocked_convolution',
      'blocked_mean',
      'to_blocked',
      'aten::sigmoid',
      'aten::mul.Tensor',
      'blocked_convolution',
      'aten::cat',
      'from_blocked',
    ],
  )
  check(
    t,
    [PLANES, conv(10, 0, 2), '%11: float32[1, 8192] @10 = aten::flatten.using_ints(%10, 1, -1)', 'return %11'],
    ['to_blocked', 'blocked_convolution', 'from_blocked', 'aten::flatten.using_ints'],
  )
  t.end()
})

t.test('what reorders would cost more than is saved stays as it is', (t) => {
  const far = [PLANES, `${planes(10)} = aten::relu(%0)`, `${planes(11)} = aten::sigmoid(%10)`, 'return %11']
  check(t, far, ['aten::relu', 'aten::sigmoid'])
  const small = [
    'input %0: float32[1, 3, 64, 64] @0',
    'constant %1: float32[3, 3, 1, 1] @1 = "tiny"',
    '%2: float32[1, 3, 64, 64] @2 = aten::conv2d(%0, %1, None, [1, 1], [0, 0], [1, 1], 1)',
    'return %2',
    '',
  ].join('\n')
  const graph = parseGraph(small, { constant: () => sized([3, 3, 1, 1]) })
  t.equal(layout(HOST).run(graph), graph)
  t.end()
})

/** Convolutions, pools, gates, sums and concatenations put together at random. */
function randomNetwork(): { text: string; constants: Map<string, Tensor> } {
  interface Planes {
    readonly id: number
    readonly channels: number
    readonly size: number
  }
  const batch = random.pick([1, 1, 2])
  const constants = new Map<string, Tensor>()
  const definitions: string[] = []
  const lines: string[] = []
  let next = 0
  const type = (channels: number, size: number): string => `float32[${batch}, ${channels}, ${size}, ${size}]`
  const make = (channels: number, size: number, call: string): Planes => {
    const id = next++
    lines.push(`%${id}: ${type(channels, size)} @${id} = aten::${call}`)
    return { id, channels, size }
  }
  /** With a least value in (-1, 1): numbers from there to 1. */
  const weight = (shape: number[], least = -1): string => {
    const id = next++
    const numbers = random.data(shape.reduce((a, b) => a * b, 1)).map((x) => (least === -1 ? x : least + (Math.abs(x) % (1 - least))))
    const values = real(numbers, shape, 'float32')
    constants.set(`w${id}`, values)
    definitions.push(`constant %${id}: float32[${shape.join(', ')}] @${id} = "w${id}"`)
    return `%${id}`
  }
  const first = { id: next++, channels: random.pick([3, 16, 24, 32]), size: 12 }
  const all: Planes[] = [first]
  for (let step = 0; step < 10; step++) {
    const from = random.pick(all.slice(-4))
    const { id, channels, size } = from
    const alike = all.filter((v) => v.channels === channels && v.size === size)
    switch (
      random.pick([
        'conv',
        'conv',
        'conv',
        'grouped',
        'depthwise',
        'unary',
        'pool',
        'gate',
        'sum',
        'cat',
        'norm',
        'prelu',
        'scale',
        'plane',
      ])
    ) {
      case 'conv': {
        const [outputs, kernel, stride] = [random.pick([8, 16, 24, 32, 48]), random.pick([1, 3]), size >= 6 ? random.pick([1, 1, 2]) : 1]
        const bias = random.pick([true, false]) ? weight([outputs]) : 'None'
        const pad = (kernel - 1) / 2
        const args = `%${id}, ${weight([outputs, channels, kernel, kernel])}, ${bias}, [${stride}], [${pad}, ${pad}], [1, 1], 1`
        all.push(make(outputs, Math.ceil(size / stride), `conv2d(${args})`))
        break
      }
      case 'grouped': {
        const groups = random.pick([2, 3, 4].filter((n) => channels % n === 0).concat(1))
        const outputs = groups * random.pick([4, 8, 12, 16])
        const args = `%${id}, ${weight([outputs, channels / groups, 3, 3])}, None, [1, 1], [1, 1], [1, 1], ${groups}`
        all.push(make(outputs, size, `conv2d(${args})`))
        break
      }
      case 'depthwise':
        all.push(make(channels, size, `conv2d(%${id}, ${weight([channels, 1, 3, 3])}, None, [1, 1], [1, 1], [1, 1], ${channels})`))
        break
      case 'unary':
        all.push(make(channels, size, `${random.pick(['relu', 'hardswish', 'sigmoid', 'silu', 'neg'])}(%${id})`))
        break
      case 'norm': {
        const [gamma, mean] = [weight([channels]), weight([channels])]
        const variance = weight([channels], 0.5)
        all.push(make(channels, size, `batch_norm(%${id}, ${gamma}, None, ${mean}, ${variance}, False, 0.1, 1e-05, True)`))
        break
      }
      case 'prelu':
        all.push(make(channels, size, `prelu(%${id}, ${weight([channels], random.pick([-1, 0.01]))})`))
        break
      case 'scale':
        all.push(
          make(
            channels,
            size,
            `mul.Tensor(%${id}, ${weight(
              random.pick([
                [channels, 1, 1],
                [1, channels, size, size],
              ]),
            )})`,
          ),
        )
        break
      case 'plane': {
        const mean = make(1, size, `mean.dim(%${id}, [1], True, None)`)
        all.push(make(channels, size, `mul.Tensor(%${id}, %${mean.id})`))
        break
      }
      case 'pool':
        all.push(make(channels, Math.ceil(size / 2), `max_pool2d(%${id}, [2, 2], [2, 2], [0, 0], [1, 1], True)`))
        break
      case 'gate': {
        const mean = make(channels, 1, `adaptive_avg_pool2d(%${id}, [1, 1])`)
        const gate = make(channels, 1, `hardsigmoid(%${mean.id})`)
        all.push(make(channels, size, `mul.Tensor(%${id}, %${gate.id})`))
        break
      }
      case 'sum':
        all.push(make(channels, size, `add.Tensor(%${id}, %${random.pick(alike).id}, ${random.pick([1, 1, 2])})`))
        break
      case 'cat': {
        const parts = all.filter((v) => v.size === size)
        const [a, b] = [random.pick(parts), random.pick(parts)]
        all.push(make(a.channels + b.channels, size, `cat([%${a.id}, %${b.id}], 1)`))
      }
    }
  }
  const last = all[all.length - 1]!
  const input = `input %0: ${type(first.channels, first.size)} @0`
  const text = [input, ...definitions, ...lines, `return [%${last.id}, %${random.pick(all.slice(1)).id}]`, ''].join('\n')
  return { text, constants }
}

t.test('random networks give what they gave before', (t) => {
  let changed = 0
  for (let round = 0; round < 150; round++) {
    const { text, constants } = randomNetwork()
    const before = parseGraph(text, { constant: (name) => constants.get(name)! })
    verifyGraph(before)
    const steps = channelSteps.run(before)
    verifyGraph(steps)
    const after = layout(HOST).run(steps)
    verifyGraph(after)
    const final = [activation, elementwise, postOps].reduce((graph, pass) => pass.run(graph), after)
    verifyGraph(final)
    if (after !== steps) changed++
    const inputs = before.inputs.map((id) => sized([...before.values.get(id)!.type.shape]))
    const [want, got] = [before, final].map((graph) => new GraphRunner(graph).run(inputs, true) as Tensor[])
    want!.forEach((y, i) => {
      const [a, b] = [y.data() as Float32Array, got![i]!.data() as Float32Array]
      const scale = Math.max(...Array.from(a, Math.abs))
      const error = Math.max(...Array.from(a, (x, k) => Math.abs(x - b[k]!))) / scale
      t.ok(error < 5e-5, `round ${round}: off by ${error}\n${error < 5e-5 ? '' : text}`)
    })
  }
  t.ok(changed > 75, `${changed} of 150 have convolutions that blocks suit`)
  t.end()
})

t.test('strategies', (t) => {
  const base = { batch: 1, inChannels: 64, outChannels: 64, groups: 1, in: [56, 56], out: [56, 56], dilation: [1, 1] } as const
  const three = { ...base, kernel: [3, 3], stride: [1, 1], padding: [1, 1] } as const
  const kinds = [
    three,
    { ...three, inChannels: 3 },
    { ...three, groups: 64 },
    { ...three, groups: 4 },
    { ...base, kernel: [1, 1], stride: [1, 1], padding: [0, 0] } as const,
    { ...base, kernel: [1, 1], stride: [1, 1], padding: [0, 0], in: [1, 1], out: [1, 1] } as const,
  ].map((p) => convolutionStrategy(p, HOST))
  t.strictSame(
    kinds.map(({ kind }) => kind),
    ['winograd', 'few channels', 'depthwise', 'grouped', 'pointwise', 'product'],
  )
  for (const { reason } of kinds) t.ok(reason.length > 10)
  t.equal(convolutionStrategy(three, HOST, { winograd: false }).kind, 'direct')
  // a block of 16 channels would read 16 times what it needs
  t.equal(convolutionStrategy({ ...three, groups: 32, outChannels: 64, inChannels: 32 }, HOST).kind, 'product')
  for (const groups of [2, 4, 8, 16]) t.equal(convolutionStrategy({ ...three, groups }, HOST).kind, 'grouped', `${groups} groups`)
  t.equal(convolutionStrategy({ ...three, stride: [2, 2], out: [28, 28] }, HOST).kind, 'direct')
  const volume = {
    ...three,
    in: [8, 56, 56],
    out: [8, 56, 56],
    kernel: [3, 3, 3],
    dilation: [1, 1, 1],
    stride: [1, 1, 1],
    padding: [1, 1, 1],
  }
  t.equal(convolutionStrategy(volume, HOST).kind, 'winograd')
  t.equal(convolutionStrategy({ ...volume, stride: [2, 1, 1], out: [4, 56, 56] }, HOST).kind, 'direct')
  t.equal(convolutionStrategy({ ...volume, kernel: [1, 1, 1], padding: [0, 0, 0] }, HOST).kind, 'pointwise')
  t.equal(convolutionStrategy({ ...volume, groups: 64 }, HOST).kind, 'product')
  t.end()
})

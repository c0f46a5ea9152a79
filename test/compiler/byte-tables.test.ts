import t, { type Test } from 'tap'
import { runGraph } from '../../compiler/graph/execute.js'
import { printGraph } from '../../compiler/graph/print.js'
import { verifyGraph } from '../../compiler/graph/verify.js'
import { byteTables } from '../../compiler/passes/fuse/byte-tables.js'
import { functionalize } from '../../compiler/passes/canonical/functionalize.js'
import { findOperator } from '../../runtime/operators/table/registry.js'
import { Tensor, tensor } from '../../src/index.js'
import { callPointwise, pointwiseCalls } from './pointwise-calls.js'
import { cleaned, operators, passChecks } from './pass-checks.js'

const { parse } = passChecks({ half: tensor([0.5], []), five: tensor([1, 2, 3, 4, 5], [5]) })

type Bytes = 'quint8' | 'qint8'

/** All bytes, each in two places of an image with channels innermost. */
const IMAGE = '[1, 2, 32, 8] strides [512, 1, 16, 2]'
const ZERO_POINTS: Readonly<Record<Bytes, number>> = { quint8: 100, qint8: -7 }

/** A graph from an image of bytes to one of bytes, by operators on the floats %1. */
function graphOf(dtype: Bytes, calls: readonly string[], constants = ''): string {
  const lines = calls.map((call, i) => `%${i + 2}: float32${IMAGE} @${i + 2} = aten::${call}\n`)
  const last = calls.length + 2
  const number = dtype === 'quint8' ? 13 : 12
  return `input %0: ${dtype}${IMAGE} quant 0.04 ${ZERO_POINTS[dtype]} @0
${constants}%1: float32${IMAGE} @1 = aten::dequantize.self(%0)
${lines.join('')}%${last}: ${dtype}${IMAGE} quant 0.03 20 @${last} = aten::quantize_per_tensor(%${last - 1}, 0.03, 20, ${number})
return %${last}
`
}

function imageOf(dtype: Bytes): Tensor {
  const bits = Uint8Array.from({ length: 512 }, (_, i) => i)
  const data = dtype === 'quint8' ? bits : new Int8Array(bits.buffer)
  const quant = { scale: 0.04, zeroPoint: ZERO_POINTS[dtype] }
  return Tensor.fromStorage(data, { dtype, shape: [1, 2, 32, 8], strides: [512, 1, 16, 2], quant })
}

/** The pass leaves these operators, and results keep their bits. */
function check(t: Test, dtype: Bytes, text: string, left: readonly string[]): void {
  const before = parse(text)
  const after = cleaned(byteTables).run(before)
  verifyGraph(after)
  t.strictSame(operators(after), left, printGraph(after))
  const [want, got] = [before, after].map((graph) => runGraph(graph, [imageOf(dtype)], true) as Tensor)
  t.strictSame(got!.data(), want!.data(), text)
  t.strictSame(got!.quant, want!.quant)
}

const NUMBERS: Readonly<Record<string, string>> = {
  celu: ', 0.7',
  clamp: ', -0.5, 0.7',
  clamp_max: ', 0.4',
  clamp_min: ', -0.4',
  elu: ', 1.1, 0.9, 0.8',
  gelu: ', "none"',
  hardshrink: ', 0.5',
  hardtanh: ', -0.3, 0.9',
  leaky_relu: ', 0.1',
  softplus: ', 1, 20',
  softshrink: ', 0.5',
  threshold: ', 0.2, 1.5',
  'add.Scalar': ', 0.5, 1',
  'div.Scalar': ', 1.5',
  'mul.Scalar': ', 1.5',
  'pow.Tensor_Scalar': ', 2',
  'sub.Scalar': ', 0.5, 2',
}

for (const dtype of ['quint8', 'qint8'] as const) {
  t.test(`${dtype}: every operator`, (t) => {
    for (const call of pointwiseCalls()) {
      const { op, args } = call
      const name = op.replace('aten::', '')
      const text = NUMBERS[name] ?? args.map((a) => `, ${JSON.stringify(a)}`).join('')
      // graphs have all arguments
      const isWhole = name in NUMBERS || args.length === findOperator(op)!.schema.arguments.length - 1
      if (!isWhole || callPointwise(call, tensor([0.5]))?.dtype !== 'float32') continue
      check(t, dtype, graphOf(dtype, [`${name}(%1${text})`]), ['ptlite::quantized_table'])
    }
    t.end()
  })

  t.test(`${dtype}: several operators`, (t) => {
    const table = ['ptlite::quantized_table']
    check(t, dtype, graphOf(dtype, ['sigmoid(%1)', 'mul.Tensor(%1, %2)']), table)
    check(t, dtype, graphOf(dtype, ['exp(%1)', 'add.Scalar(%2, 1, 1)', 'log(%3)', 'tanh(%4)', 'mul.Tensor(%1, %5)']), table)
    const half = 'constant %20: float32[] @20 = "half"\n'
    check(t, dtype, graphOf(dtype, ['mul.Tensor(%1, %20)', 'maximum(%2, %1)', 'sub.Tensor(%3, %20, 2)'], half), table)
    check(t, dtype, graphOf(dtype, []), table)
    t.end()
  })
}

t.test('floats that are returned as well stay', (t) => {
  const text = graphOf('quint8', ['silu(%1)']).replace('return %3', 'return (%2, %3)')
  t.strictSame(operators(cleaned(byteTables).run(parse(text))), ['aten::dequantize.self', 'aten::silu', 'ptlite::quantized_table'])
  t.end()
})

t.test('what stays', (t) => {
  const stays = (text: string): void => {
    const graph = parse(text)
    t.equal(byteTables.run(graph), graph, text)
  }
  const silu = graphOf('quint8', ['silu(%1)'])
  const second = `${IMAGE} quant 0.04 100`
  stays(
    graphOf('quint8', ['mul.Tensor(%1, %21)'], `input %20: quint8${second} @20\n%21: float32${IMAGE} @21 = aten::dequantize.self(%20)\n`),
  )
  stays(graphOf('quint8', ['mul.Tensor(%1, %20)'], `input %20: float32${IMAGE} @20\n`))
  stays(graphOf('quint8', ['softmax.int(%1, 1, None)']))
  stays(silu.replaceAll(IMAGE, '[1, 2, 32, 8] strides [1024, 2, 32, 4]'))
  stays(silu.replaceAll(IMAGE, '[0]'))
  stays(silu.replace(`%3: quint8${IMAGE}`, '%3: quint8[1, 2, 32, 8]'))
  stays(silu.replace('%3: quint8', '%3: qint32').replace(', 13)', ', 14)'))
  const broadcast = `input %0: quint8[1] quant 0.04 100 @0
constant %20: float32[5] @20 = "five"
%1: float32[1] @1 = aten::dequantize.self(%0)
%2: float32[5] @2 = aten::mul.Tensor(%1, %20)
%3: quint8[5] quant 0.03 20 @3 = aten::quantize_per_tensor(%2, 0.03, 20, 13)
return %3
`
  stays(broadcast)
  stays(graphOf('quint8', ['relu_(%1!)']).replace(/@2 = aten::relu_/, '@1 = aten::relu_'))
  t.end()
})

t.test('operators that work in place on images with channels innermost', (t) => {
  const text = graphOf('quint8', ['silu_(%1!)']).replace(/@2 = aten::silu_/, '@1 = aten::silu_')
  t.strictSame(operators(functionalize.run(parse(text))), ['aten::dequantize.self', 'aten::silu', 'aten::quantize_per_tensor'])
  t.end()
})

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import type { Graph } from '../../compiler/graph/graph.js'
import { GraphRunner } from '../../compiler/graph/execute.js'
import { parseGraph } from '../../compiler/graph/parse.js'
import { printGraph } from '../../compiler/graph/print.js'
import { verifyGraph } from '../../compiler/graph/verify.js'
import { DEFAULT_OPTIONS } from '../../compiler/passes/pass.js'
import { optimize } from '../../compiler/passes/pipeline.js'
import { CASCADE_LAKE, costsOfLanes } from '../../compiler/target/costs.js'
import type { Target } from '../../compiler/target/target.js'
import { type Tensor, tensor } from '../../src/index.js'
import { HOST, operators, random } from './pass-checks.js'

/** Blocks of `width` channels, made in plain TypeScript: [a, b, ...rest] becomes [a / width, ...rest, b, width], padded with zeros. */
function blocksOfOutputs(filter: Tensor, width: number): Tensor {
  const [outputs, inputs, ...rest] = filter.shape as [number, number, ...number[]]
  const taps = rest.reduce((a, b) => a * b, 1)
  const data = filter.data() as Float32Array
  const blocks = Math.ceil(outputs / width)
  const packed = new Float32Array(blocks * taps * inputs * width)
  for (let o = 0; o < outputs; o++) {
    for (let i = 0; i < inputs; i++) {
      for (let tap = 0; tap < taps; tap++)
        packed[((Math.floor(o / width) * taps + tap) * inputs + i) * width + (o % width)] = data[(o * inputs + i) * taps + tap]!
    }
  }
  return tensor(packed, [blocks, ...rest, inputs, width])
}

/** A machine with vectors of half the width, a second-level cache of 64 kB, and no kernels for Winograd's algorithm. */
const NARROW: Target = {
  ...HOST,
  blockWidth: 8,
  caches: { l2: 64 << 10, l3: 1 << 20 },
  capabilities: { blocks: true, winograd: false, sparse: false, tiles: false },
  packFilter: (filter) => blocksOfOutputs(filter, 8),
}

/** A machine for which there is nothing but plain kernels. */
const PLAIN: Target = { ...HOST, capabilities: { blocks: false, winograd: false, sparse: false, tiles: false } }

const weights: Record<string, Tensor> = {
  first: random([24, 16, 3, 3]),
  second: random([32, 24, 1, 1]),
  bias: random([24]),
  sparse: tensor(new Float32Array(64 * 32).fill(0.5, 0, 64 * 4), [64, 32]),
}
const NETWORK = `input %0: float32[1, 16, 24, 24] @0
constant %1: float32[24, 16, 3, 3] @1 = "first"
constant %2: float32[24] @2 = "bias"
constant %3: float32[32, 24, 1, 1] @3 = "second"
constant %4: float32[64, 32] @4 = "sparse"
%5: float32[1, 24, 24, 24] @5 = aten::conv2d(%0, %1, %2, [1, 1], [1, 1], [1, 1], 1)
%6: float32[1, 24, 24, 24] @6 = aten::relu(%5)
%7: float32[1, 32, 24, 24] @7 = aten::conv2d(%6, %3, None, [1, 1], [0, 0], [1, 1], 1)
%8: float32[1, 32, 12, 12] @8 = aten::max_pool2d(%7, [2, 2], [2, 2], [0, 0], [1, 1], False)
%9: float32[1, 32, 1, 1] @9 = aten::adaptive_avg_pool2d(%8, [1, 1])
%10: float32[1, 32] @9 = aten::flatten.using_ints(%9, 1, -1)
%11: float32[1, 64] @11 = aten::linear(%10, %4, None)
return %11
`
const network = (): Graph => parseGraph(NETWORK, { constant: (name) => weights[name] })

function lowered(target: Target): Graph {
  const verify = (_: unknown, after: Graph): void => {
    verifyGraph(after)
  }
  return optimize(network(), verify, DEFAULT_OPTIONS, target)
}

const shapesOf = (graph: Graph): string[] =>
  graph.nodes.map((node) => (node.results[0]?.kind === 'value' ? graph.values.get(node.results[0].id)!.type.shape.join() : ''))

t.test('images and filters are cut into blocks of the width of the target', (t) => {
  const graph = lowered(NARROW)
  t.strictSame(
    graph.nodes.flatMap((node) => (node.kind === 'convolution' ? [[node.layout, node.strategy]] : [])),
    [
      ['blocks', 'direct'],
      ['blocks', 'direct'],
    ],
    printGraph(graph),
  )
  const blocked = shapesOf(graph).filter((shape) => shape.split(',').length === 5)
  t.strictSame(blocked, ['1,2,24,24,8', '1,3,24,24,8', '1,4,24,24,8', '1,4,12,12,8'])
  const filters = graph.constants.map(({ tensor: { shape } }) => shape.join())
  t.ok(filters.includes('3,3,3,16,8') && filters.includes('4,1,1,24,8'), filters.join(' '))
  t.ok(filters.includes('24'), 'a bias of 24 needs no padding')
  // here they are blocks of 16, by Winograd's algorithm where that is faster
  const here = lowered(HOST)
  t.ok(shapesOf(here).includes('1,2,24,24,16'), printGraph(here))
  t.end()
})

t.test('where most of a block would be padding, images stay planes', (t) => {
  const graph = lowered({ ...NARROW, blockWidth: 64 })
  t.notOk(
    graph.nodes.some((node) => node.kind === 'convolution' && node.layout === 'blocks'),
    printGraph(graph),
  )
  t.end()
})

t.test('shorter vectors make arithmetic dearer, and memory not', (t) => {
  t.strictSame(costsOfLanes(16), CASCADE_LAKE)
  const costs = costsOfLanes(4)
  t.equal(costs.directMac, 4 * CASCADE_LAKE.directMac)
  t.equal(costs.depthwiseElement, 4 * CASCADE_LAKE.depthwiseElement)
  t.equal(costs.reorderedElement, CASCADE_LAKE.reorderedElement)
  t.equal(costs.byteRead, CASCADE_LAKE.byteRead)
  t.end()
})

t.test('weights with blocks of zeros are looked at where products can be sparse', (t) => {
  const asked: number[] = []
  const generating: Target = {
    ...PLAIN,
    capabilities: { ...PLAIN.capabilities, sparse: true },
    countBlocks: ({ numel }) => ({ blocks: numel / 16, zeros: numel / 32, width: 16 }),
    estimate({ nonZeroBlocks }) {
      asked.push(nonZeroBlocks)
      return [{ strategy: 'vectors', milliseconds: 1 }]
    },
  }
  const forms = (graph: Graph): unknown[] => graph.nodes.flatMap((node) => (node.kind === 'linear' ? [node.form] : []))
  t.strictSame(forms(lowered(generating)), ['vectors'])
  t.strictSame(forms(lowered(PLAIN)), [], 'a plain aten::linear')
  t.ok(asked.includes((64 * 32) / 32))
  t.end()
})

t.test('without capabilities a network keeps planes and dense products, and its results', (t) => {
  const graph = lowered(PLAIN)
  t.strictSame(operators(graph), [
    'ptlite::convolution',
    'aten::conv2d',
    'aten::max_pool2d',
    'aten::adaptive_avg_pool2d',
    'aten::reshape',
    'aten::linear',
  ])
  const inputs = [random([1, 16, 24, 24])]
  const [want, got, here] = [network(), graph, lowered(HOST)].map(
    (g) => (new GraphRunner(g).run(inputs, true) as Tensor).data() as Float32Array,
  )
  const scale = Math.max(...want!.map(Math.abs))
  for (const other of [got!, here!]) t.ok(want!.every((x, i) => Math.abs(x - other[i]!) <= 1e-4 * scale))
  t.end()
})

t.test('passes ask the target: none of them looks at the machine', (t) => {
  const folder = fileURLToPath(new URL('../../compiler/passes', import.meta.url))
  const found: string[] = []
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))) {
    const text = readFileSync(join(folder, name), 'utf8')
    for (const [line] of text.matchAll(
      /^.*(backends\/cpu\/support|native\/(cpu|caches|threads|level)|cacheSizes|\bNS_PER_|\bBLOCK\b).*$/gm,
    ))
      found.push(`${name}: ${line}`)
  }
  t.strictSame(found, [])
  t.end()
})

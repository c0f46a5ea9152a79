import { readFileSync } from 'node:fs'
import t from 'tap'
import * as library from '../../src/index.js'
import { example } from '../examples/run-example.js'

/** A module of the page. */
const load = async <T>(name: string): Promise<T> => (await import(new URL(`../../page/src/${name}`, import.meta.url).href)) as T

interface Box {
  readonly width: number
  readonly height: number
  readonly from: readonly number[]
}
interface Point {
  readonly x: number
  readonly y: number
}
interface Laid {
  readonly places: readonly Point[]
  readonly edges: readonly { readonly from: number; readonly to: number; readonly isBack: boolean; readonly points: readonly Point[] }[]
  readonly width: number
  readonly height: number
}

const box = (...from: number[]): Box => ({ width: 100, height: 40, from })

t.test('graphs are laid out in layers', async (t) => {
  const { layout } = await load<{ layout(nodes: readonly Box[]): Laid }>('graph/layout.js')
  // a step with a way around it, and a loop back
  const { places, edges, width, height } = layout([box(), box(0), box(1), box(2, 0), box(3, 5), box(4)])
  t.strictSame(
    places.map(({ y }) => y),
    [...places.map(({ y }) => y)].sort((a, b) => a - b),
  )
  t.ok(edges.find(({ from, to }) => from === 5 && to === 4)!.isBack)
  t.equal(edges.find(({ from, to }) => from === 0 && to === 3)!.points.length, 4, 'it has a place of its own in each layer')
  t.ok(places.every(({ x, y }) => x >= 0 && x <= width && y >= 0 && y <= height))
  t.strictSame(layout([]), { places: [], edges: [], width: 0, height: 0 })

  let seed = 1
  const random = (): number => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) / 2 ** 32
  const large = Array.from({ length: 3000 }, (_, i) =>
    i < 20 ? box() : box(i - 1 - Math.floor(4 * random()), ...(random() < 0.2 ? [i - 1 - Math.floor(20 * random())] : [])),
  )
  const start = performance.now()
  const found = layout(large)
  t.ok(performance.now() - start < 5000, 'thousands of steps take no minute')
  const rows = new Map<number, number[]>()
  for (const { x, y } of found.places) rows.set(y, [...(rows.get(y) ?? []), x])
  for (const row of rows.values()) {
    row.sort((a, b) => a - b)
    t.ok(
      row.every((x, i) => i === 0 || x - row[i - 1]! > 100),
      'none lies on another',
    )
  }
  t.ok(found.edges.every(({ from, to, isBack }) => isBack || found.places[from]!.y < found.places[to]!.y))
})

t.test('arithmetic on sizes is left out of graphs, and what it leads to stays linked', async (t) => {
  const { aboutTensors, keepNodes, findNodes } = await load<{
    aboutTensors(nodes: readonly library.GraphNode[]): boolean[]
    keepNodes(
      nodes: readonly library.GraphNode[],
      keep: (i: number) => boolean,
    ): { kept: { node: library.GraphNode; from: number[] }[]; numbers: number[] }
    findNodes(nodes: readonly library.GraphNode[], text: string): number[]
  }>('graph/visible.js')
  const node = (kind: library.GraphNode['kind'], name: string, results: string[], ...from: number[]): library.GraphNode => ({
    ...{ kind, name, results, parameters: name === 'aten::linear' ? ['head.weight'] : [], place: null, source: null, missing: false },
    args: from.map((at) => ({ name: '', text: `%${at}`, from: [at] })),
  })
  const nodes = [
    node('input', 'x', ['Tensor']),
    node('operator', 'aten::size', ['int[]'], 0),
    node('operator', 'aten::__getitem__.t', ['t'], 1),
    node('operator', 'aten::chunk', ['Tensor[]'], 0),
    node('operator', 'aten::__getitem__.t', ['t'], 3),
    node('operator', 'aten::view', ['float32[1, 2]'], 4, 2),
    node('branch', 'if', [], 2),
    node('operator', 'aten::linear', ['Tensor'], 5),
    node('output', 'return', [], 7),
  ]
  const about = aboutTensors(nodes)
  t.strictSame(about, [true, false, false, true, true, true, false, true, true])
  const { kept, numbers } = keepNodes(nodes, (i) => about[i]!)
  t.strictSame(numbers, [0, 3, 4, 5, 7, 8])
  t.strictSame(kept[3]!.from, [2, 0], 'through what is left out')
  t.strictSame(findNodes(nodes, 'HEAD lin'), [7])
  t.strictSame(findNodes(nodes, '  '), [])
})

t.test('arguments as people write them', async (t) => {
  const { parseArgument, declaredText } = await load<{
    parseArgument(
      text: string,
      random?: () => number,
    ): { kind: string; dtype?: string; shape?: number[]; data?: ArrayLike<unknown>; value?: unknown }
    declaredText(info: object): string
  }>('model/arguments.js')
  t.match(
    parseArgument('float32[2, 3]', () => 0.75),
    { kind: 'tensor', dtype: 'float32', shape: [2, 3], data: new Float32Array(6).fill(0.5) },
  )
  t.match(parseArgument('int64[1, 4]').data, new BigInt64Array(4))
  t.match(parseArgument('ones int32 [2]').data, Int32Array.of(1, 1))
  t.match(parseArgument('random uint8[2]', () => 0.9).data, Uint8Array.of(1, 1))
  t.match(parseArgument('float32[]').shape, [])
  t.match(parseArgument('0.5'), { kind: 'value', value: 0.5, isFloat: true })
  t.match(parseArgument('5'), { kind: 'value', value: 5, isFloat: false })
  t.match(parseArgument('None'), { kind: 'value', value: null })
  t.match(parseArgument('"a"'), { kind: 'value', value: 'a' })
  t.match(parseArgument('[[1, 2]]'), { kind: 'nested', value: [[1, 2]] })
  for (const wrong of ['', 'float33[1]', 'float32[1, x]', 'float32[-1]', 'constructor[1]', 'float32[9999999999]', '{"a":1}', 'what'])
    t.throws(() => parseArgument(wrong), Error, wrong)
  t.equal(declaredText({ type: 'Tensor', dtype: 'int64', shape: [{ min: 1 }, { min: 7 }] }), 'int64[1, 7]')
  t.equal(declaredText({ type: 'Optional[Tensor]' }), 'none')
  t.equal(declaredText({ type: 'Tensor' }), '')
})

t.test('tables are searched and sorted', async (t) => {
  interface Row {
    readonly name: string
    readonly bytes: number
  }
  const { arrange } = await load<{
    arrange(
      rows: readonly Row[],
      text: string,
      textOf: (row: Row) => string,
      column: { sort(row: Row): unknown } | null,
      descending: boolean,
    ): Row[]
  }>('table.js')
  const rows = ['layers.10.weight', 'layers.9.weight', 'head.bias'].map((name, i) => ({ name, bytes: 10 * i }))
  const name = { sort: (row: Row) => row.name }
  const namesOf = (list: readonly Row[]): string[] => list.map((row) => row.name)
  t.strictSame(namesOf(arrange(rows, '', (row) => row.name, name, false)), ['head.bias', 'layers.9.weight', 'layers.10.weight'])
  t.strictSame(namesOf(arrange(rows, 'WEIGHT lay', (row) => row.name, { sort: (row) => row.bytes }, true)), [
    'layers.9.weight',
    'layers.10.weight',
  ])
})

t.test('pictures, sounds and digits are brought to what networks take', async (t) => {
  const { pictureOptions, pictureShape } = await load<{
    pictureOptions(options: object): library.ImageOptions
    pictureShape(shape: readonly number[]): object | null
  }>('model/picture.js')
  t.strictSame(pictureShape([1, 3, 224, 192]), { channels: 3, height: 224, width: 192 })
  t.equal(pictureShape([1, 7, 224, 192]), null)
  const pixels = { data: new Uint8Array(4 * 16).fill(255), width: 4, height: 4 }
  for (const scale of ['unit', 'imagenet', 'signed', 'bytes'])
    for (const [channels, height, width] of [
      [1, 8, 8],
      [3, 8, 6],
    ] as const) {
      const x = library.imageToTensor(pixels, pictureOptions({ channels, height, width, scale }))
      t.strictSame(x.shape, [1, channels, height, width], `${scale}, ${channels}`)
      if (scale === 'bytes') t.ok(Math.abs(Number(x.data()[0]) - 255) < 1e-3)
      x.dispose()
    }

  const { joined, levelOf } = await load<{
    joined(parts: readonly Float32Array[], length: number): Float32Array
    levelOf(samples: Float32Array): number
  }>('sound/recorder.js')
  t.strictSame(joined([Float32Array.of(1, 2), Float32Array.of(3, 4)], 3), Float32Array.of(1, 2, 3))
  t.strictSame(joined([Float32Array.of(1)], 2), Float32Array.of(1, 0))
  t.equal(levelOf(new Float32Array(8)), 0)
  t.equal(levelOf(new Float32Array(8).fill(1)), 1)

  const { countCells, fitStrokes } = await load<{
    countCells(dots: Uint8Array): Uint8Array
    fitStrokes(strokes: readonly (readonly Point[])[]): { scale: number; x: number; y: number } | null
  }>('demos/digit-grid.js')
  const dots = new Uint8Array(32 * 32)
  dots.fill(1, 0, 32 * 4)
  t.strictSame([...countCells(dots).subarray(0, 16)], [...new Array<number>(8).fill(16), ...new Array<number>(8).fill(0)])
  t.equal(fitStrokes([]), null)
  const fit = fitStrokes([
    [
      { x: 100, y: 10 },
      { x: 100, y: 60 },
    ],
  ])!
  t.ok(Math.abs(fit.scale * 100 + fit.x - 16) < 1e-9 && fit.scale * 60 + fit.y < 32)
})

t.test('a session opens, runs and measures a model, and gives everything back', async (t) => {
  interface Arg {
    readonly kind: string
    readonly dtype?: string
    readonly shape?: readonly number[]
    readonly data?: Uint8Array
  }
  interface Opened {
    inspect(): Promise<library.ModelReport>
    suggest(input: { method: string }): Promise<{ source: string; args: { dtype: string; shape: number[] }[] } | null>
    run(input: {
      method: string
      args: readonly Arg[]
    }): Promise<{ outputs: { shape: number[]; top: { at: number; value: number }[] }; plan: { state: string } }>
    profile(input: {
      method: string
      args: readonly Arg[]
    }): Promise<{ operators: { name: string; microseconds: number }[]; kernels: unknown[]; sizes: unknown[] }>
    arena(input: { method: string; args: readonly Arg[] }): Promise<{ use: library.ArenaUse }>
    close(): void
  }
  const { Session } = await load<{ Session: new (ptlite: typeof library, bytes: Uint8Array) => Opened }>('engine/session.js')
  const before = library.memoryStats().live
  const session = new Session(library, readFileSync(example('digits/digits.ptl')))
  t.equal((await session.inspect()).format, '.ptl')
  t.equal(library.memoryStats().live, before, 'what was looked at is given back')
  const suggested = (await session.suggest({ method: 'forward' }))!
  t.match(suggested.source, /weights/)
  const args = [{ kind: 'tensor', dtype: 'uint8', shape: [1, 1, 8, 8], data: new Uint8Array(64).fill(3) }]
  // a second form is only remembered at its first call, and a plan takes its arena at its first replay
  for (let i = 0; i < 3; i++) await session.run({ method: 'forward', args })
  const { outputs, plan } = await session.run({ method: 'forward', args })
  t.strictSame(outputs.shape, [1, 10])
  t.ok(outputs.top[0]!.value >= outputs.top[1]!.value)
  t.equal(plan.state, 'plan')
  const held = library.memoryStats().live
  for (let i = 0; i < 20; i++) await session.run({ method: 'forward', args })
  t.ok(library.memoryStats().live <= held, 'runs keep nothing')
  const { operators, kernels, sizes } = await session.profile({ method: 'forward', args })
  t.ok(operators.every(({ microseconds }) => microseconds >= 0) && operators.some(({ name }) => name === 'aten::conv2d'))
  t.ok(kernels.length > 0 && sizes.length > 0)
  const { use } = await session.arena({ method: 'forward', args })
  t.ok(use.buffers.length > 0)
  const { liveBytes } = await load<{ liveBytes(buffers: library.ArenaUse['buffers'], frames: number): number[] }>('model/arena.js')
  t.equal(Math.max(...liveBytes(use.buffers, use.kernels.length)), use.lowerBound)
  await t.rejects(session.run({ method: 'forward', args: [] }), { code: 'INVALID_ARGUMENT' })
  session.close()
  t.ok(library.memoryStats().live <= before, 'and closing gives the weights back')
})

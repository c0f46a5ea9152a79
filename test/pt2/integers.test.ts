import t from 'tap'
import { compileAhead } from '../../src/ahead.js'
import { loadModule, type Output, type Tensor } from '../../src/index.js'
import { mem_fill } from '../../runtime/native/generated/kernels.js'
import type { Storage } from '../../runtime/tensor/storage.js'
import { observeStorages } from '../../runtime/tensor/observe.js'
import { difference, fixturePath, inputOf, readCalls } from './fixtures.js'

/** Quantized programs: interpreted they give PyTorch's floats, plans compute on integers. */

interface Expected {
  /** Operators that plans have. */
  readonly integers: readonly string[]
  /** Operators on floats that are gone. */
  readonly floats: readonly string[]
  /** And those that are gone of programs as exported: decomposed ones multiply attention's result by an expanded weight. */
  readonly exportedFloats?: readonly string[]
}

const PROGRAMS: Readonly<Record<string, Expected>> = {
  'images.xnnpack': {
    integers: [
      'quantized::conv2d_relu.new',
      'quantized::conv2d.new',
      'quantized::add_relu',
      'quantized::mul',
      'quantized::cat',
      'quantized::conv_transpose2d',
      'quantized::conv1d',
      'quantized::linear',
      'lookup',
      'aten::max_pool2d',
      'aten::avg_pool2d',
    ],
    floats: ['aten::conv2d', 'convolution', 'linear', 'aten::linear', 'aten::silu', 'aten::sigmoid', 'aten::conv1d'],
  },
  'images.x86': {
    integers: ['quantized::conv2d_relu.new', 'ptlite::quantized_linear', 'ptlite::quantized_convolution'],
    floats: ['aten::conv2d', 'convolution', 'linear', 'aten::linear'],
  },
  'tokens.xnnpack': {
    integers: ['quantized::linear', 'quantized::add', 'lookup'],
    floats: ['aten::gelu'],
    exportedFloats: ['aten::linear', 'linear'],
  },
  'tokens.dynamic': {
    integers: ['quantized::linear_dynamic', 'aten::embedding'],
    floats: ['aten::linear', 'linear'],
  },
}

/** Steps of quantization add up from layer to layer. */
const BOUND = 0.06

function relativeError(found: Output, wanted: Output): number {
  const [a, b] = [found, wanted].map((output) => (output as Tensor).data() as Float32Array)
  const largest = b!.reduce((most, x) => Math.max(most, Math.abs(x)), 0)
  return a!.reduce((most, x, i) => Math.max(most, Math.abs(x - b![i]!)), 0) / largest
}

for (const [name, { integers, floats, exportedFloats = [] }] of Object.entries(PROGRAMS)) {
  for (const form of ['pt2', 'core.pt2']) {
    t.test(`${name}.${form}`, async (t) => {
      const path = fixturePath(`${name}.${form}`)
      const [interpreted, planned] = await Promise.all([loadModule(path, { compile: 'off' }), loadModule(path, { compile: 'eager' })])
      const { calls } = readCalls(name)
      const bytes = compileAhead(path, () => [{ method: 'forward', args: calls[0]!.args.map(inputOf) }])
      const ahead = await loadModule(bytes)
      // the first call is interpreted while it is recorded
      planned.forward(...calls[0]!.args.map(inputOf))
      for (const { args, result } of [...calls, ...calls]) {
        const wanted = interpreted.forward(...args.map(inputOf))
        // what lies on the edge between two steps may fall to either side
        if (name === 'tokens.dynamic') t.equal(difference(wanted, result), undefined)
        const found = planned.forward(...args.map(inputOf))
        const error = relativeError(found, wanted)
        t.ok(error <= BOUND, `off by ${error}`)
        t.strictSame((ahead.forward(...args.map(inputOf)) as Tensor).data(), (found as Tensor).data(), 'from a file')
      }
      t.equal(planned.plans()[0]?.state, 'plan')
      const graph = (planned.explain('forward', calls[0]!.args.map(inputOf)) as string).split('\n# after ').at(-1)!
      if (name.startsWith('tokens')) t.match(graph, /int8\[20, 16\]/, 'a table of integers')
      for (const op of integers) t.ok(graph.includes(` = ${op}(`), op)
      for (const op of [...floats, ...(form === 'pt2' ? exportedFloats : [])]) t.notOk(graph.includes(` = ${op}(`), op)
      for (const module of [interpreted, planned, ahead]) module.dispose()
    })
  }
}

/** Has new memory hold NaN until it is written. */
function withNaN<T>(run: () => T): T {
  const nothing = (): void => undefined
  const allocated = (storage: Storage): void => {
    if (storage.byteLength > 0) mem_fill({ address: storage.address, bytes: storage.byteLength, value: 255 })
  }
  const before = observeStorages({ used: nothing, freed: nothing, moved: nothing, allocated })
  try {
    return run()
  } finally {
    observeStorages(before)
  }
}

t.test('the content of new memory changes no plan', async (t) => {
  const name = 'tokens.dynamic'
  const module = await loadModule(fixturePath(`${name}.core.pt2`), { compile: 'eager' })
  const args = readCalls(name).calls[0]!.args.map(inputOf)
  const graph = (withNaN(() => module.explain('forward', args)) as string).split('\n# after ').at(-1)!
  for (const op of PROGRAMS[name]!.floats) t.notOk(graph.includes(` = ${op}(`), op)
  module.dispose()
})

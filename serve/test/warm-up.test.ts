import t, { type Test } from 'tap'
import { withoutLarge } from '../src/models/batching.js'
import { batchingOf } from '../src/repository/config.js'
import { HostedModel } from '../src/workers/hosted-model.js'
import type { ModelStart } from '../src/workers/messages.js'
import { fixture } from './support/server.js'

/** A model whose every call takes half a second by the clock. */
async function warmed(t: Test, over: Partial<ModelStart>): Promise<{ rows: number | null; milliseconds: number | null; sizes: number[] }> {
  const example = { datatype: 'FP32', shape: [1, 4], data: new Float32Array([1, 2, 3, 4]) } as const
  const model = await HostedModel.load(
    {
      ...{
        slot: 1,
        path: fixture('affine.ptl'),
        method: 'forward',
        compile: 'off',
        warmUp: [[example]],
        mayFail: false,
        mayLeaveOut: true,
      },
      ...{ batchSizes: [1, 2, 4, 8], kinds: null, bytes: null, milliseconds: 8000, map: true, eval: false, stateful: false },
      ...over,
    },
    () => undefined,
  )
  const sizes = new Set<number>()
  const run = model.module.run.bind(model.module)
  t.intercept(model.module, 'run', {
    value: (method: string, args: { shape: number[] }[], options: object) => (
      sizes.add(args[0]!.shape[0]!),
      run(method, args as never, options)
    ),
  })
  let now = 0
  const clock = t.capture(performance, 'now', () => (now += 500))
  try {
    const { rows, milliseconds } = await model.warmUp(() => undefined)
    return { rows, milliseconds, sizes: [...sizes] }
  } finally {
    clock.restore()
    model.module.dispose()
  }
}

t.test('batches that would take long are left out, where nobody has asked for them', async (t) => {
  t.match(await warmed(t, {}), { rows: 4, milliseconds: 500, sizes: [1, 2, 4] })
  t.match(await warmed(t, { milliseconds: 1000 }), { rows: 1, sizes: [1] })
  t.match(await warmed(t, { milliseconds: 1000, mayLeaveOut: false }), { rows: 8, sizes: [1, 2, 4, 8] })
  t.match(await warmed(t, { batchSizes: [] }), { rows: null, sizes: [1] })
  t.match(await warmed(t, { warmUp: [] }), { rows: null, milliseconds: null, sizes: [] })
})

t.test('sizes that are left', (t) => {
  const all = batchingOf(8, 5)
  t.same(withoutLarge(all, 8), all)
  t.same(withoutLarge(all, 4), { maxSize: 4, delayMs: 5, preferred: [1, 2, 4] })
  t.equal(withoutLarge(all, 1), null)
  t.end()
})

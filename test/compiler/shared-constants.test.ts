import { readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { constantOf, SharedConstants, withSharedConstants } from '../../compiler/graph/shared-constants.js'
import { callOnce } from '../../compiler/graph/evaluate.js'
import { TieredModule } from '../../compiler/tier.js'
import { openSource } from '../../formats/containers/bytes.js'
import { discardPages, endLease, lease, Storage } from '../../runtime/tensor/storage.js'
import { loadProgram } from '../../engine/load-program.js'
import * as kernels from '../../runtime/native/generated/kernels.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'
import { callOperator, generate, loadModule, memoryStats, tensor } from '../../src/index.js'
import { fixturePath } from '../module/fixtures.js'

const image = (batch: number): Tensor =>
  tensor(
    Float32Array.from({ length: batch * 3 * 64 * 64 }, (_, i) => Math.sin(i)),
    [batch, 3, 64, 64],
  )

t.test('plans for two signatures share packed weights', (t) => {
  const { live } = memoryStats()
  const script = loadProgram(fixturePath('models/resnet18.ptl'))
  const tiers = new TieredModule(script, 'eager')
  const forward = script.method('forward')
  const inputs = [1, 2].map(image)
  const madeBy = (x: Tensor): Set<number> => {
    const { plan } = tiers.planFor(forward, [x])
    return new Set(plan.captured.constants.map(({ storage }) => storage.startAddress))
  }
  const [one, two] = inputs.map(madeBy) as [Set<number>, Set<number>]
  t.ok(one.size > 20)
  t.strictSame(
    [...two].filter((address) => !one.has(address)),
    [],
    'at the same addresses',
  )
  for (const { weights } of tiers.plans()) {
    t.ok(weights!.bytes > 50_000)
    t.equal(weights!.shared, weights!.bytes)
  }
  // six more signatures and one that takes the place of the first plan: its weights stay with the others
  for (let batch = 3; batch <= 9; batch++) {
    inputs.push(image(batch))
    tiers.compile(forward, inputs.slice(-1))
  }
  t.equal(tiers.plans().length, 8)
  t.ok(tiers.plans().every(({ weights }) => weights!.bytes === weights!.shared))
  for (const x of inputs) x.dispose()
  tiers.dispose()
  script.dispose()
  t.equal(memoryStats().live, live, 'all goes with the module')
  t.end()
})

t.test('what was made from weights that change is made anew', async (t) => {
  const m = await loadModule(fixturePath('models/resnet18.ptl'), { compile: 'eager' })
  const off = await loadModule(fixturePath('models/resnet18.ptl'), { compile: 'off' })
  const x = image(1)
  const results: string[] = []
  for (const factor of [1, 3]) {
    for (const module of [m, off]) {
      const [, weight] = [...module.parameters()].find(([name]) => name.includes('conv') && name.endsWith('weight'))!
      if (factor !== 1) callOperator('aten::mul_.Scalar', [weight, factor])
    }
    const [got, want] = [m, off].map((module) => (module.forward(x) as Tensor).data() as Float32Array) as [Float32Array, Float32Array]
    const scale = Math.max(...want.map(Math.abs))
    t.ok(want.every((v, i) => Math.abs(v - got[i]!) <= 1e-5 * scale))
    results.push(String(got))
  }
  t.not(results[0], results[1])
  t.equal(m.plans().filter(({ state }) => state === 'plan').length, 1)
  m.dispose()
  off.dispose()
  t.end()
})

t.test('constants by what they are made from', (t) => {
  const shared = new SharedConstants()
  const weight = tensor([1, 2, 3, 4, 5, 6], [2, 3]) as Tensor
  const make = (op: string, ...args: (Tensor | number)[]): Tensor => withSharedConstants(shared, () => callOnce(op, args)[0] as Tensor)
  const a = make('aten::mul.Scalar', weight, 2)
  const again = make('aten::mul.Scalar', weight, 2)
  t.not(a, again)
  t.equal(again.storage, a.storage)
  t.not(make('aten::mul.Scalar', weight, 3).storage, a.storage, 'another argument')
  t.not(make('aten::add.Scalar', weight, 2, 1).storage, a.storage, 'another operator')
  const turned = make('aten::t', weight)
  t.equal(turned.storage, weight.storage, 'a view stays one')
  t.not(make('aten::mul.Scalar', turned, 2).storage, a.storage, 'other strides')
  const second = make('aten::neg', a)
  a.release()
  t.ok(again.storage.live, 'each has its share')
  again.release()
  t.not(a.storage.live, 'the last one frees it')
  // what is made from a constant that was made again is what it was
  const b = make('aten::mul.Scalar', weight, 2)
  t.equal(make('aten::neg', b).storage, second.storage)
  callOperator('aten::fill_.Scalar', [weight, 7])
  t.strictSame(
    make('aten::mul.Scalar', weight, 2).toArray(),
    [
      [14, 14, 14],
      [14, 14, 14],
    ],
    'other contents',
  )
  t.strictSame(b.toArray(), [
    [2, 4, 6],
    [8, 10, 12],
  ])

  const numbers = (...data: number[]): Tensor => withSharedConstants(shared, () => constantOf(Float32Array.from(data), [data.length]))
  const zeros = numbers(0, 0)
  t.equal(numbers(0, 0).storage, zeros.storage)
  t.not(numbers(0, -0).storage, zeros.storage, 'by their bits')
  t.not(numbers(0, 0, 0).storage, zeros.storage)
  t.not(constantOf(new Float32Array(2), [2]).storage, zeros.storage, 'nothing is shared elsewhere')
  t.end()
})

t.test('what each step makes from both of its operands has a short name', (t) => {
  const shared = new SharedConstants()
  const steps = (): Tensor[] => {
    const made = [first]
    for (let i = 0; i < 200; i++)
      made.push(withSharedConstants(shared, () => callOnce('aten::sub.Tensor', [made.at(-1)!, made.at(-1)!, 1])[0] as Tensor))
    return made
  }
  const first = tensor([3, 4], [2]) as Tensor
  const made = steps()
  t.equal(steps().at(-1)!.storage, made.at(-1)!.storage, 'and is found again')
  t.equal(new Set(made.map(({ storage }) => storage)).size, made.length)
  t.end()
})

/** Resident kilobytes of the mapping of a file. */
function residentOf(file: string): number {
  const lines = readFileSync('/proc/self/smaps', 'utf8').split('\n')
  let kilobytes = 0
  let inside = false
  for (const line of lines) {
    if (/^[0-9a-f]+-[0-9a-f]+ /.test(line)) inside = line.endsWith(file)
    else if (inside && line.startsWith('Rss:')) kilobytes += Number(/\d+/.exec(line)![0])
  }
  return kilobytes
}

t.test('pages of weights that only the passes read are let go', async (t) => {
  const file = fixturePath('models/resnet18.ptl')
  const m = await loadModule(file, { compile: 'auto' })
  const weights = [...m.parameters().values()]
  const before = weights.map((w) => String(w.data()))
  const whole = residentOf(file)
  const x = image(1)
  const first = String((m.forward(x) as Tensor).data())
  m.forward(x)
  t.equal(m.plans()[0]!.state, 'plan')
  t.ok(residentOf(file) < whole, `${residentOf(file)} of ${whole} kB stay`)
  t.strictSame(
    weights.map((w) => String(w.data())),
    before,
    'and are read again when they are needed',
  )
  t.ok(first.length > 0)
  m.dispose()
})

t.test('pages of weights that the background thread has rounded are let go', async (t) => {
  const file = fileURLToPath(new URL('../../examples/chat/model.pt2', import.meta.url))
  const kilobytes = statSync(file).size / 1024
  for (const compile of ['off', 'auto'] as const) {
    const model = await loadModule(file, { compile, weights: 'int8' })
    // off the event loop
    for await (const { token } of generate(model, [1, 2, 3, 4], { maxTokens: 6 })) t.ok(token >= 0)
    const left = residentOf(file)
    t.ok(left < kilobytes / 3, `${compile}: ${left} of ${Math.round(kilobytes)} kB stay`)
    model.dispose()
  }
})

t.test('pages that were written to stay, and so does other memory', (t) => {
  const bytes = Uint8Array.from({ length: 16 * 4096 + 100 }, (_, i) => i * 7)
  const file = `${t.testdir({ pages: Buffer.from(bytes) })}/pages`
  const source = openSource(file)
  const storage = source.storageAt(64, bytes.length - 64, 64)
  const contents = (): Uint8Array => {
    const found = new Uint8Array(storage.byteLength)
    kernels.mem_read({ address: storage.address, bytes: found.length }, found)
    return found
  }
  const want = contents()
  t.strictSame(want, bytes.subarray(64))
  t.ok(residentOf(file) >= 64)
  kernels.mem_fill({ address: storage.address + 5 * 4096, bytes: 10, value: 1 })
  want.fill(1, 5 * 4096, 5 * 4096 + 10)
  discardPages(storage)
  // the first and the last page are not the storage's alone
  t.equal(residentOf(file), 3 * 4)
  t.strictSame(contents(), want)
  lease(storage)
  discardPages(storage)
  t.ok(residentOf(file) >= 64, 'not while another thread uses it')
  endLease(storage)
  for (const size of [0, 1, 4095]) kernels.mem_discard({ address: storage.address, bytes: size })
  t.ok(residentOf(file) >= 64)
  source.close()

  const other = Storage.holding(bytes)
  discardPages(other)
  kernels.mem_discard({ address: other.address, bytes: other.byteLength })
  const found = new Uint8Array(bytes.length)
  kernels.mem_read({ address: other.address, bytes: found.length }, found)
  t.strictSame(found, bytes)
  other.free()
  t.end()
})

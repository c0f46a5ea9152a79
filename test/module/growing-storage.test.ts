import t from 'tap'
import { callOperator, loadModule, memoryStats, tensor, type Tensor } from '../../src/index.js'
import { method, scriptArchive } from '../formats/torchscript/archive.js'

/** A storage that gets larger does so for all that view it. */

const call = (op: string, ...args: unknown[]): Tensor => callOperator(`aten::${op}`, args as never[]) as Tensor
const four = (): Tensor => tensor(Float32Array.of(1, 2, 3, 4))
const firstTwo = (of: Tensor): Tensor => call('slice.Tensor', of, 0, 0, 2, 1)

t.test('resize_ keeps what views see', (t) => {
  const a = four()
  const v = firstTwo(a)
  call('resize_', a, [100])
  t.strictSame([a.storage === v.storage, v.toArray()], [true, [1, 2]])
  call('fill_.Scalar', a, 7)
  t.strictSame([v.toArray(), a.data().length], [[7, 7], 100]) // prettier-ignore
  call('resize_', a, [3])
  call('fill_.Scalar', a, 8)
  t.strictSame(v.toArray(), [8, 8])
  t.end()
})

t.test('a view of the middle grows from where it begins', (t) => {
  const a = four()
  const v = call('slice.Tensor', a, 0, 2, 4, 1)
  call('resize_', v, [3, 2])
  t.strictSame([v.offset, a.toArray(), v.storage === a.storage], [2, [1, 2, 3, 4], true])
  call('fill_.Scalar', v, 9)
  t.strictSame(a.toArray(), [1, 2, 9, 9])
  t.end()
})

t.test('out grows for its views', (t) => {
  for (const make of [
    (out: Tensor) => call('cat.out', [tensor(new Float32Array(8).fill(5)), four()], 0, out),
    (out: Tensor) => call('add.out', tensor(new Float32Array(12).fill(4)), tensor(new Float32Array(12).fill(1)), 1, out),
    (out: Tensor) => call('exp.out', call('mul.Scalar', call('ones', [12]), Math.log(5)), out),
    (out: Tensor) => call('mm.out', call('ones', [4, 5]), call('ones', [5, 3]), out),
    (out: Tensor) => call('full.out', [12], 5, out),
    (out: Tensor) =>
      call(
        'index_add.out',
        call('mul.Scalar', call('ones', [12]), 5),
        0,
        tensor(BigInt64Array.of(11n), [1], 'int64'),
        tensor(Float32Array.of(0)),
        1,
        out,
      ),
    (out: Tensor) => call('sum.IntList_out', call('ones', [5, 12]), [0], false, null, out),
  ]) {
    const out = four()
    const [v, w] = [firstTwo(out), firstTwo(out)]
    t.equal(make(out), out)
    t.ok(v.data().every((x) => Math.abs(Number(x) - 5) < 1e-5))
    call('fill_.Scalar', v, 1)
    t.strictSame([w.toArray(), out.data()[0], out.numel], [[1, 1], 1, 12])
  }
  t.end()
})

t.test('the memory from before goes back, and all of it with the last view', (t) => {
  const before = memoryStats().live
  for (let i = 0; i < 3; i++) {
    const a = call('zeros', [1000])
    const v = firstTwo(a)
    call('resize_', a, [100_000])
    t.ok(memoryStats().live - before < 450_000)
    a.dispose()
    t.strictSame(v.toArray(), [0, 0])
    v.dispose()
    t.equal(memoryStats().live, before)
  }
  t.end()
})

const GROWS = method(
  'a: Tensor, b: Tensor',
  'Tensor',
  'v = torch.slice(a, 0, 0, 2)',
  '_0 = torch.resize_(a, [100])',
  '_1 = torch.fill_(a, 7)',
  'c = torch.clone(b)',
  'd = torch.slice(c, 0, 0, 2)',
  '_2 = torch.cat([a, a], 0, out=c)',
  'return torch.add(torch.mul(v, 2), d)',
)

t.test('in programs, for arguments and their views outside', async (t) => {
  for (const compile of ['off', 'auto', 'eager'] as const) {
    const module = await loadModule(scriptArchive(GROWS), { compile })
    for (let i = 0; i < 4; i++) {
      for (const run of [false, true]) {
        const [a, b] = [four(), four()]
        const v = firstTwo(a)
        const result = (run ? await module.run('forward', [a, b]) : module.forward(a, b)) as Tensor
        t.strictSame([result.toArray(), v.toArray(), a.shape, b.toArray()], [[21, 21], [7, 7], [100], [1, 2, 3, 4]], compile) // prettier-ignore
      }
    }
    module.dispose()
  }
})

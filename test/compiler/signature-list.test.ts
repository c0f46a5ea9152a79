import t from 'tap'
import { signatureHash } from '../../compiler/record/signature-hash.js'
import { type Kept, SignatureList } from '../../compiler/signature-list.js'
import { float, tensor, tuple } from '../../src/index.js'
import type { Value } from '../../runtime/tensor/value.js'

const entry = (hash: number, cost = 0, replays = 0): Kept => ({ hash, cost, replays })

t.test('a signature gets an entry when it comes again', (t) => {
  const list = new SignatureList()
  t.notOk(list.isDue(1))
  t.notOk(list.isDue(2))
  t.ok(list.isDue(1))
  t.ok(list.isDue(1))
  list.add(entry(1))
  t.notOk(list.isDue(1), 'after its entry it starts anew')
  for (let hash = 100; hash < 164; hash++) list.isDue(hash)
  t.notOk(list.isDue(2), 'only so many are remembered')
  t.end()
})

t.test('the least recently used one goes', (t) => {
  const list = new SignatureList()
  for (let hash = 1; hash <= 8; hash++) t.equal(list.add(entry(hash)), undefined)
  list.touch(7)
  t.equal(list.add(entry(9))?.hash, 2)
  t.strictSame(
    list.entries.map((e) => e.hash),
    [9, 1, 8, 7, 6, 5, 4, 3],
  )
  t.end()
})

t.test('signatures that keep changing are looked at less and less, until one comes back', (t) => {
  const list = new SignatureList()
  let looked = 0
  const call = (hash: number): boolean => {
    if (list.rests()) return false
    looked++
    return list.isDue(hash)
  }
  for (let hash = 0; hash < 64; hash++) call(hash)
  t.equal(looked, 64, 'not at once')
  for (let hash = 64; hash < 20_000; hash++) t.notOk(call(hash))
  t.ok(looked < 1000, `${looked} of 20,000`)
  let calls = 1
  while (!call(1e6)) calls++
  t.ok(calls < 1100, `found after ${calls} calls`)
  looked = 0
  for (let hash = 1e6 + 1; hash < 1e6 + 60; hash++) call(hash)
  t.equal(looked, 59, 'and all are looked at again')
  list.add(entry(3))
  for (let hash = 2e6; hash < 2e6 + 1000; hash++) {
    call(hash)
    list.touch(0)
  }
  t.equal(looked, 1059, 'as they are while others are replayed')
  t.end()
})

t.test('a form that comes back now and then does not wake it, one that stays does', (t) => {
  const list = new SignatureList<Kept>()
  list.add(entry(0))
  let [looked, compared] = [0, 0]
  const call = (hash: number): boolean => {
    if (list.dozes()) return false
    compared++
    if (hash === 0) {
      list.touch(0)
      return true
    }
    if (list.rests()) return false
    looked++
    return list.isDue(hash)
  }
  for (let i = 0; i < 20_000; i++) call(i % 100 === 0 ? 0 : i)
  t.ok(looked < 4000, `${looked} of 20,000 looked at`)
  t.ok(compared < 10_000, `${compared} of 20,000 compared`)
  let calls = 1
  while (!call(0)) calls++
  t.ok(calls <= 4, `found after ${calls} calls`)
  t.ok(call(0) && call(0), 'and each time from then on')
  t.end()
})

t.test('time lost on plans that do not pay stays a small part of all', (t) => {
  const list = new SignatureList<Kept>()
  let spent = 0
  const calls = 20_000
  for (let i = 0; i < calls; i++) {
    // more signatures in turns than are kept
    const hash = i % 20
    if (list.entries.some((e) => e.hash === hash)) continue
    if (list.isDue(hash)) {
      list.add(entry(hash, 50))
      spent += 50
    } else list.note(1)
  }
  t.ok(spent >= 8 * 50, 'some are tried')
  t.ok(spent <= 0.06 * calls + 9 * 50, `${spent} of ${calls} milliseconds`)
  const quick = new SignatureList<Kept>()
  for (const hash of [1, 2]) quick.add(entry(hash, 50))
  for (let i = 0; i < 1000; i++) quick.note(0.01)
  quick.isDue(3)
  t.notOk(quick.isDue(3), 'a plan that costs more than all calls is not made')
  const paying = new SignatureList<Kept>()
  paying.note(1)
  for (let hash = 0; hash < 100; hash++) {
    paying.isDue(hash)
    t.ok(paying.isDue(hash), 'plans that have paid cost nothing')
    paying.add(entry(hash, 50, 1000))
  }
  t.end()
})

t.test('calls that can never be replayed are looked at now and then', (t) => {
  const list = new SignatureList()
  list.add(entry(1))
  let looked = 0
  const call = (futile: boolean): void => {
    if (list.skips()) return
    looked++
    list.touch(0, futile)
  }
  for (let i = 0; i < 16; i++) call(true)
  t.equal(looked, 16, 'not at once')
  for (let i = 0; i < 6500; i++) call(true)
  t.equal(looked, 116)
  let calls = 1
  for (const before = looked; looked === before; calls++) call(false)
  t.ok(calls <= 66, `one that can be is found after ${calls} calls`)
  looked = 0
  for (let i = 0; i < 100; i++) call(i % 10 > 0)
  t.equal(looked, 100, 'while some can be, all are looked at')
  t.end()
})

t.test('arguments of one form have one hash, others hardly ever', (t) => {
  const x = (rows: number): Value => tensor(new Float32Array(4 * rows), [rows, 4])
  const hash = (...args: unknown[]): number => signatureHash(args as Value[])
  t.equal(hash(x(3), 2, [x(1)]), hash(x(3), 2, [x(1)]))
  const forms = [
    ...Array.from({ length: 2000 }, (_, i) => [x(i + 1)]),
    ...Array.from({ length: 100 }, (_, i) => [x(1), i]),
    ...Array.from({ length: 100 }, (_, i) => [x(1), float(i / 8)]),
    ...Array.from({ length: 20 }, (_, i) => [Array.from({ length: i }, () => x(1))]),
    [x(1), true],
    [x(1), null],
    [x(1), 'a'],
    [x(1), 'b'],
    [tuple(x(1), x(2))],
    [x(2), x(1)],
    [tensor(new Float32Array(4), [4])],
    [tensor([1, 2, 3, 4], [1, 4], 'int32')],
  ]
  const hashes = new Set(forms.map((args) => hash(...args)))
  t.ok(hashes.size > 0.99 * forms.length, `${hashes.size} of ${forms.length}`)
  t.end()
})

import t from 'tap'
import { callOperator, type Input, int, setNumThreads, type Tensor } from '../../src/index.js'
import { atEveryLevel } from '../support/again.js'
import { Random, real } from './support/random.js'

/** Transforms of several signals against the sums that define them. */

const random = new Random(11)
const call = (name: string, ...args: readonly Input[]): Tensor => callOperator(`aten::${name}`, args) as Tensor
const parts = (x: Tensor): Float64Array => call('view_as_real', x).data() as Float64Array

/** Real and imaginary parts in turn of sum x[j] e^(sign 2 pi i j k / n), for each of the signals in `x`, pairs as well. */
function definition(x: Float64Array, n: number, sign: number): Float64Array {
  const out = new Float64Array(x.length)
  for (let at = 0; at < x.length; at += 2 * n) {
    for (let k = 0; k < n; k++) {
      for (let j = 0; j < n; j++) {
        const angle = (sign * 2 * Math.PI * ((j * k) % n)) / n
        const [re, im] = [x[at + 2 * j]!, x[at + 2 * j + 1]!]
        out[at + 2 * k]! += re * Math.cos(angle) - im * Math.sin(angle)
        out[at + 2 * k + 1]! += re * Math.sin(angle) + im * Math.cos(angle)
      }
    }
  }
  return out
}

const far = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
  a.length === b.length ? Array.from(a).reduce((most, x, i) => Math.max(most, Math.abs(x - b[i]!)), 0) : Infinity

t.test('lengths of all kinds, for any number of signals', (t) => {
  for (const n of [1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 16, 24, 30, 36, 49, 64, 97, 101, 134, 509]) {
    for (const count of [1, 3, 8, 9]) {
      const data = random.data(count * n * 2)
      const x = call('view_as_complex', real(data, [count, n, 2], 'float64'))
      const want = definition(data, n, -1)
      t.ok(far(parts(call('fft_fft', x)), want) < 1e-12, `${count} of ${n}`)
      t.ok(far(parts(call('fft_ifft', call('fft_fft', x))), data) < 1e-12, `${count} of ${n}, and back`)
      const reals = random.data(count * n)
      const wide = Float64Array.from({ length: 2 * count * n }, (_, i) => (i % 2 === 0 ? reals[i / 2]! : 0))
      const half = Math.floor(n / 2) + 1
      const spectrum = call('fft_rfft', real(reals, [count, n], 'float64'))
      const kept = definition(wide, n, -1).filter((_, i) => i % (2 * n) < 2 * half)
      t.ok(far(parts(spectrum), kept) < 1e-12, `${count} of ${n} reals`)
      t.ok(far(call('fft_irfft', spectrum, int(n)).data() as Float64Array, reals) < 1e-12, `${count} of ${n} reals, and back`)
    }
  }
  t.end()
})

t.test('a signal has the same bits beside others and with more threads', (t) => {
  const data = random.data(300 * 192)
  const bits = (x: Tensor): number[] => [...(call('view_as_real', call('fft_fft', x)).data() as Float32Array)]
  const all = bits(real(data, [300, 192], 'float32'))
  for (const row of [0, 150, 299]) {
    const one = bits(real(data.slice(row * 192, (row + 1) * 192), [1, 192], 'float32'))
    t.strictSame(one, all.slice(row * 384, (row + 1) * 384))
  }
  setNumThreads(3)
  t.strictSame(bits(real(data, [300, 192], 'float32')), all)
  setNumThreads(1)
  t.end()
})

t.test('frames of a short-time transform', (t) => {
  const [n, hop, length] = [12, 5, 60]
  const [x, window] = [random.data(2 * length), random.data(n)]
  const signal = real(x, [2, length], 'float64')
  const found = call('stft', signal, int(n), int(hop), int(n), real(window, [n], 'float64'), false, false, true)
  const frames = Math.floor((length - n) / hop) + 1
  t.strictSame(found.shape, [2, n, frames])
  const got = parts(found)
  for (const batch of [0, 1]) {
    for (let frame = 0; frame < frames; frame++) {
      const piece = Float64Array.from({ length: 2 * n }, (_, i) =>
        i % 2 === 0 ? x[batch * length + frame * hop + i / 2]! * window[i / 2]! : 0,
      )
      const mine = Float64Array.from({ length: 2 * n }, (_, i) => got[((batch * n + (i >> 1)) * frames + frame) * 2 + (i % 2)]!)
      t.ok(far(mine, definition(piece, n, -1)) < 1e-12, `image ${batch}, frame ${frame}`)
    }
  }
  t.end()
})

atEveryLevel(t, import.meta.url)

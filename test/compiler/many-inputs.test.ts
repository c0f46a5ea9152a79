import t from 'tap'
import { compileCall } from '../../compiler/compiled-call.js'
import { type Tensor, tensor } from '../../src/index.js'
import { passChecks } from './pass-checks.js'

const { parse } = passChecks({})

/** A sum of so many inputs, one after the other. */
function sumOf(count: number): string {
  const inputs = Array.from({ length: count }, (_, i) => `input %${i}: float32[4] @${i}\n`)
  const sums = Array.from({ length: count - 1 }, (_, i) => {
    const made = count + i
    return `%${made}: float32[4] @${made} = aten::add.Tensor(%${i === 0 ? 0 : made - 1}, %${i + 1}, 1)\n`
  })
  return `${inputs.join('')}${sums.join('')}return %${2 * count - 2}\n`
}

/** A step of a language model of 30 layers has 120 caches and scales. */
t.test('hundreds of inputs fit a plan', (t) => {
  const inputs = (from: number): Tensor[] => Array.from({ length: 300 }, (_, i) => tensor(new Float32Array(4).fill(from + i), [4]))
  const { call } = compileCall(parse(sumOf(300)), inputs(0))
  t.not(call.plan, null, call.reason ?? '')
  const sum = call.run(inputs(2)) as Tensor
  t.strictSame([...sum.data()], new Array(4).fill(300 * 2 + (299 * 300) / 2))
  const many = compileCall(parse(sumOf(600)), [...inputs(0), ...inputs(300)])
  t.match(many.call.reason, /at most 448 fit/)
  t.end()
})

#!/usr/bin/env node
// Compares exported models with PyTorch: check.mjs FOLDER ...
//
// Each call that the script kept is made six times, interpreted and compiled, and with weights in few bits: printed are the largest differences at the first, third
// and sixth, of the largest value of the output. Of what generates, the tokens are compared. Exits with 1 where float32 is further than --tolerance, or a token is another.
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { generate, loadModule, setNumThreads } from '../../dist/index.js'
import { callsOf, generatorOf, jsonOf, programsOf, promptOf, tensorsOf } from './folder.mjs'

const { values, positionals } = parseArgs({ allowPositionals: true, options: { tolerance: { type: 'string', default: '1e-4' } } })
const VARIANTS = [
  { name: 'interpreted', options: { compile: 'off' }, isExact: true },
  { name: 'compiled', options: { compile: 'eager' }, isExact: true },
  { name: 'int8', options: { weights: 'int8' }, isExact: false },
  { name: 'int4', options: { weights: 'int4' }, isExact: false },
]
setNumThreads(2)
let isWrong = false

/** The largest difference of an output, of its largest value; of whole numbers, the share of those that differ. */
function difference(found, expected) {
  if (`${found.shape}` !== `${expected.shape}`) return Infinity
  const [a, b] = [found.data(), expected.data()]
  if (found.dtype !== 'float32') return b.filter((value, i) => Number(value) !== Number(a[i])).length / Math.max(b.length, 1)
  let [most, largest] = [0, 0]
  for (let i = 0; i < b.length; i++) {
    if (Number.isNaN(a[i]) !== Number.isNaN(b[i])) return Infinity
    const off = Math.abs(a[i] - b[i])
    // infinities of the same sign are alike
    if (a[i] !== b[i] && off > most) most = off
    if (Number.isFinite(b[i])) largest = Math.max(largest, Math.abs(b[i]))
  }
  return most / (largest || 1)
}

async function compare(folder, program, { name, options, isExact }) {
  const model = await loadModule(join(folder, '1', `${program}.pt2`), options)
  for (const [i, { inputs, outputs }] of callsOf(folder, program).entries()) {
    const found = []
    for (let k = 1; k <= 6; k++) {
      const results = tensorsOf(model.forward(...inputs))
      found.push(results.length === outputs.length ? Math.max(...outputs.map((output, j) => difference(results[j], output))) : Infinity)
    }
    const shown = [found[0], found[2], found[5]]
    if (isExact) isWrong ||= shown.some((value) => !(value <= Number(values.tolerance)))
    const sizes = inputs.map(({ shape }) => `[${shape}]`).join(' ')
    console.log(`${basename(folder)} ${program} ${i} ${sizes} ${name}: ${shown.map((value) => value.toExponential(1)).join(' ')}`)
  }
  model.dispose()
}

async function compareTokens(folder, cases, { name, options, isExact }) {
  const model = await generatorOf(folder, options)
  const found = []
  for await (const { token } of generate(model, promptOf(folder), { maxTokens: cases.tokens.length })) found.push(token)
  const at = cases.tokens.findIndex((token, i) => found[i] !== token)
  if (isExact) isWrong ||= at >= 0
  console.log(
    `${basename(folder)} ${name}: ${at < 0 ? `all ${found.length} tokens are PyTorch's` : `token ${at} of ${found.length} is another`}`,
  )
  for (const each of model.encoder === undefined ? [model] : [model.encoder, model.decoder]) each.dispose()
}

for (const folder of positionals)
  for (const variant of VARIANTS) {
    for (const program of programsOf(folder)) await compare(folder, program, variant)
    const cases = jsonOf(folder, 'tokens.json')
    if (cases !== null) await compareTokens(folder, cases, variant)
  }
if (isWrong) process.exitCode = 1

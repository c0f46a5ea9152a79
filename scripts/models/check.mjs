#!/usr/bin/env node
// Compares exported models with PyTorch: check.mjs [--forms compiled,int8] [--times 6] FOLDER ...
//
// Each call that the script kept is made --times times, interpreted, compiled, by run(), by a .ptlc file, and with weights in few bits: printed are the largest differences at the
// first, third and last, of the largest value of the output. Of what generates, the tokens are compared, of a .ptlc file these alone. Exits with 1 where float32
// is further than --tolerance, or a token is another.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { generate, loadModule, setNumThreads } from '../../dist/index.js'
import { difference, tensorsOf } from './difference.mjs'
import { callsOf, compileAhead, compileTokens, generatorOf, jsonOf, programsOf, promptOf } from './folder.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { tolerance: { type: 'string', default: '1e-4' }, forms: { type: 'string' }, times: { type: 'string', default: '6' } },
})
const ALL = [
  { name: 'interpreted', options: { compile: 'off' }, isExact: true },
  { name: 'compiled', options: { compile: 'eager' }, isExact: true },
  { name: 'run()', isInBackground: true, isExact: true },
  { name: '.ptlc', isAhead: true, isExact: true },
  { name: 'int8', options: { weights: 'int8' }, isExact: false },
  { name: 'int4', options: { weights: 'int4' }, isExact: false },
]
const VARIANTS = values.forms === undefined ? ALL : ALL.filter(({ name }) => values.forms.split(',').includes(name))
/** On machines with other work. */
const PATIENT = { milliseconds: 3_600_000 }
setNumThreads(2)
let isWrong = false

/** What is loaded for a call. */
async function opened(folder, program, call, { options, isAhead }) {
  if (!isAhead) return loadModule(join(folder, '1', `${program}.pt2`), { ...options, limits: PATIENT })
  const out = mkdtempSync(join(tmpdir(), 'models-'))
  try {
    const path = join(out, `${program}.ptlc`)
    compileAhead(folder, program, call, path)
    return await loadModule(path, { limits: PATIENT })
  } finally {
    // what is mapped stays
    rmSync(out, { recursive: true })
  }
}

async function compare(folder, program, variant) {
  const { name, isInBackground, isExact } = variant
  for (const [i, { inputs, outputs }] of callsOf(folder, program).entries()) {
    const model = await opened(folder, program, i, variant)
    const found = []
    for (let k = 1; k <= Number(values.times); k++) {
      const results = tensorsOf(isInBackground ? await model.run('forward', inputs) : model.forward(...inputs))
      found.push(results.length === outputs.length ? Math.max(...outputs.map((output, j) => difference(results[j], output))) : Infinity)
    }
    model.dispose()
    const shown = [found[0], found[2], found.at(-1)].filter((value) => value !== undefined)
    if (isExact) isWrong ||= shown.some((value) => !(value <= Number(values.tolerance)))
    const sizes = inputs.map(({ shape }) => `[${shape}]`).join(' ')
    console.log(`${basename(folder)} ${program} ${i} ${sizes} ${name}: ${shown.map((value) => value.toExponential(1)).join(' ')}`)
  }
}

/** What generates; null for what there is no .ptlc file of. */
async function openedGenerator(folder, { options, isAhead }) {
  if (!isAhead) return generatorOf(folder, { ...options, limits: PATIENT })
  const out = mkdtempSync(join(tmpdir(), 'models-'))
  try {
    const path = compileTokens(folder, join(out, 'model.ptlc'))
    return path === null ? null : await loadModule(path, { limits: PATIENT })
  } finally {
    // what is mapped stays
    rmSync(out, { recursive: true })
  }
}

async function compareTokens(folder, cases, variant) {
  const { name, isExact } = variant
  const model = await openedGenerator(folder, variant)
  if (model === null) return
  for (const { prompt, tokens } of cases) {
    const found = []
    for await (const { token } of generate(model, promptOf(folder, { prompt }), { maxTokens: tokens.length })) found.push(token)
    const at = tokens.findIndex((token, i) => found[i] !== token)
    if (isExact) isWrong ||= at >= 0
    const result = at < 0 ? `all ${found.length} tokens are PyTorch's` : `token ${at} of ${found.length} is another`
    console.log(`${basename(folder)} behind ${prompt.length} ${name}: ${result}`)
  }
  for (const each of model.encoder === undefined ? [model] : [model.encoder, model.decoder]) each.dispose()
}

for (const folder of positionals)
  for (const variant of VARIANTS) {
    const cases = jsonOf(folder, 'tokens.json')
    if (cases === null || !variant.isAhead) for (const program of programsOf(folder)) await compare(folder, program, variant)
    if (cases !== null && !variant.isInBackground) await compareTokens(folder, cases, variant)
  }
if (isWrong) process.exitCode = 1

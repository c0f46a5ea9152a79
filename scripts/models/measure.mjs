#!/usr/bin/env node
// Prints a table of sizes, memory and times of exported models: measure.mjs [--threads 2] [--seconds 3] FOLDER ...
//
// A row is a process of its own that loads a program and calls it as the script's first call does: file, memory of the process afterwards, time to load, the first call, and
// the median of later ones. What generates (tokens.json) is given a prompt of 128 tokens twice: the second time counts, and the tokens that follow it.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { generate, loadModule, setNumThreads } from '../../dist/index.js'
import { callsOf, generatorOf, programsOf, promptOf } from './folder.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    threads: { type: 'string', default: '2' },
    seconds: { type: 'string', default: '3' },
    weights: { type: 'string' },
    program: { type: 'string' },
    file: { type: 'string' },
  },
})
const median = (times) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]
const since = (start) => performance.now() - start
const memory = () => Math.round(process.memoryUsage.rss() / 1e6)
const short = (time) => (time < 10 ? time.toFixed(2) : time < 100 ? time.toFixed(1) : time.toFixed(0))

/** A row of calls. */
async function calls(folder, options) {
  const [{ inputs }] = callsOf(folder, values.program)
  let start = performance.now()
  const model = await loadModule(values.file, options)
  const load = since(start)
  start = performance.now()
  model.forward(...inputs)
  const first = since(start)
  for (let i = 0; i < 2; i++) model.forward(...inputs)
  const times = []
  while (times.length < 5 || times.reduce((a, b) => a + b) < 1000 * Number(values.seconds)) {
    start = performance.now()
    model.forward(...inputs)
    times.push(since(start))
  }
  return [memory(), short(load), short(first), short(median(times))]
}

/** A row of what generates. */
async function tokens(folder, options) {
  let start = performance.now()
  const model = await generatorOf(folder, options)
  const load = since(start)
  const prompt = promptOf(folder)
  for await (const _ of generate(model, prompt, { maxTokens: 8 }));
  start = performance.now()
  const arrivals = []
  for await (const _ of generate(model, prompt, { maxTokens: 33 })) arrivals.push(since(start))
  const steps = arrivals.slice(1).map((time, i) => time - arrivals[i])
  return [memory(), short(load), short(arrivals[0]), (1000 / median(steps)).toFixed(1)]
}

function rowOf(folder, options) {
  const args = ['--threads', values.threads, '--seconds', values.seconds, folder]
  for (const [name, value] of Object.entries(options)) if (value !== undefined) args.unshift(`--${name}`, value)
  return JSON.parse(
    execFileSync(process.execPath, [fileURLToPath(import.meta.url), ...args], {
      env: { ...process.env, PTLITE_MEASURE_ROW: '1' },
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  )
}

/** A program with its weights rounded, its plan and no floats. */
function compiled(folder, program, weights, out) {
  const path = join(out, `${program}-${weights}.ptlc`)
  const call = join(folder, 'calls', `${program}-0`)
  const inputs = readdirSync(call).filter((name) => name.startsWith('input-')).map((_, i) => join(call, `input-${i}.npy`)) // prettier-ignore
  const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
  execFileSync(process.execPath, [cli, 'compile', join(folder, '1', `${program}.pt2`), '--weights', weights, '-o', path, '--input', ...inputs], { stdio: ['ignore', 'ignore', 'inherit'] }) // prettier-ignore
  return path
}

function table(folder) {
  const isGenerator = existsSync(join(folder, 'tokens.json'))
  console.log(isGenerator ? '| weights | file MB | memory MB | load ms | prompt ms | tokens/s |' : '| program | weights | file MB | memory MB | load ms | first call ms | a call ms |') // prettier-ignore
  console.log(isGenerator ? '|---|---:|---:|---:|---:|---:|' : '|---|---|---:|---:|---:|---:|---:|')
  const size = (...paths) => (paths.reduce((sum, path) => sum + statSync(path).size, 0) / 1e6).toFixed(1)
  const programs = programsOf(folder)
  const pathOf = (program) => join(folder, '1', `${program}.pt2`)
  if (isGenerator) {
    for (const weights of [undefined, 'int8', 'int4'])
      console.log('|', [weights ?? 'as exported', size(...programs.map(pathOf)), ...rowOf(folder, { weights })].join(' | '), '|')
    return
  }
  const out = mkdtempSync(join(tmpdir(), 'models-'))
  for (const program of programs) {
    for (const weights of [undefined, 'int8', 'int4']) {
      const file = pathOf(program)
      console.log('|', [program, weights ?? 'as exported', size(file), ...rowOf(folder, { program, weights, file })].join(' | '), '|')
    }
    for (const weights of ['int8', 'int4']) {
      const file = compiled(folder, program, weights, out)
      console.log('|', [program, `${weights}, \`.ptlc\``, size(file), ...rowOf(folder, { program, file })].join(' | '), '|')
    }
  }
  rmSync(out, { recursive: true })
}

setNumThreads(Number(values.threads))
const [folder] = positionals
const { weights } = values
if (values.file !== undefined) console.log(JSON.stringify(await calls(folder, weights === undefined ? {} : { weights })))
else if (process.env.PTLITE_MEASURE_ROW) console.log(JSON.stringify(await tokens(folder, weights === undefined ? {} : { weights })))
else for (const each of positionals) table(each)

#!/usr/bin/env node
// Prints a table of sizes, memory and times of exported models: measure.mjs [--threads 2] [--seconds 3] [--python python3] FOLDER ...
//
// A row is a process of its own that loads a program and calls it as the script's first call does. All rows of a program take turns, and --python adds one of PyTorch: other work on the
// machine slows them alike. Times are the least of all: of loading and of the first call of two processes, of calls with one thread and with two those of --seconds each. Memory is the
// most that a process had. What generates (tokens.json) is given its first prompt once, and then five times with 32 tokens behind it, with --threads: the least time of the prompt counts, and
// the least of the five medians of a token.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { generate, loadModule, setNumThreads } from '../../dist/index.js'
import { callsOf, compileAhead, compileTokens, generatorOf, jsonOf, programsOf, promptOf } from './folder.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    threads: { type: 'string', default: '2' },
    seconds: { type: 'string', default: '3' },
    python: { type: 'string' },
    weights: { type: 'string' },
    program: { type: 'string' },
    file: { type: 'string' },
    ahead: { type: 'string' },
  },
})
const SELF = fileURLToPath(import.meta.url)
const PYTORCH = fileURLToPath(new URL('pytorch.py', import.meta.url))
const ROUNDS = 5
const median = (times) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]
const since = (start) => performance.now() - start
/** The most memory that this process had, in MB. */
const peak = () => Math.round((process.resourceUsage().maxRSS * 1024) / 1e6)
const short = (time) => (time < 10 ? time.toFixed(2) : time < 100 ? time.toFixed(1) : time.toFixed(0))

/** A process that loads and calls once, and then calls for as long as each line of its input says, as pytorch.py does. */
async function calls(folder, options) {
  const [{ inputs }] = callsOf(folder, values.program)
  setNumThreads(2)
  let start = performance.now()
  const model = await loadModule(values.file, options)
  const load = since(start)
  start = performance.now()
  model.forward(...inputs)
  console.log(JSON.stringify({ load, first: since(start) }))
  for (let i = 0; i < 2; i++) model.forward(...inputs)
  for await (const line of createInterface({ input: process.stdin })) {
    const [threads, milliseconds] = line.split(' ').map(Number)
    setNumThreads(threads)
    const [begin, times] = [performance.now(), []]
    do {
      start = performance.now()
      model.forward(...inputs)
      times.push(since(start))
    } while (since(begin) < milliseconds)
    console.log(JSON.stringify({ least: Math.min(...times), memory: peak() }))
  }
}

/** A process whose answers are read line by line. */
function started(command, args) {
  const child = spawn(command, args, { env: { ...process.env, PTLITE_MEASURE_ROW: '1' }, stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const answer = async () => {
    const { value, done } = await lines.next()
    if (done) throw new Error(`${command} ${args.join(' ')} ended`)
    return JSON.parse(value)
  }
  return {
    answer,
    ask: (line) => {
      child.stdin.write(`${line}\n`)
      return answer()
    },
    end: () => {
      child.stdin.end()
      return new Promise((resolve) => child.once('close', resolve))
    },
  }
}

/** Processes of rows, which take turns: `turn(row, i)` asks row `i` ROUNDS times. Gives the least times of loading and of the first call, of these and of processes before. */
async function inTurns(rows, turn) {
  const starts = rows.map(() => ({ load: Infinity, first: Infinity }))
  const begin = async (i) => {
    const row = started(...rows[i].command)
    const { load, first } = await row.answer()
    starts[i] = { load: Math.min(starts[i].load, load), first: Math.min(starts[i].first, first) }
    return row
  }
  for (const i of rows.keys()) await (await begin(i)).end()
  const processes = []
  for (const i of rows.keys()) processes.push(await begin(i))
  for (let k = 0; k < ROUNDS; k++) for (const [i, row] of processes.entries()) await turn(row, i)
  for (const row of processes) await row.end()
  return starts
}

/** What rows of a program take: memory, load, first call, a call with one thread and with two. */
async function measured(rows) {
  const results = rows.map(() => ({ memory: 0, least: [Infinity, Infinity] }))
  const starts = await inTurns(rows, async (row, i) => {
    for (const threads of [1, 2]) {
      const { least, memory } = await row.ask(`${threads} ${(1000 * Number(values.seconds)) / ROUNDS}`)
      results[i].least[threads - 1] = Math.min(results[i].least[threads - 1], least)
      results[i].memory = memory
    }
  })
  return results.map(({ memory, least }, i) => [memory, ...[starts[i].load, starts[i].first, ...least].map(short)])
}

/** What rows of what generates take: memory, load, the prompt, and tokens a second. */
async function measuredTokens(rows) {
  const results = rows.map(() => ({ memory: 0, prompt: Infinity, step: Infinity }))
  const starts = await inTurns(rows, async (row, i) => {
    const { prompt, step, memory } = await row.ask('again')
    results[i] = { memory, prompt: Math.min(results[i].prompt, prompt), step: Math.min(results[i].step, step) }
  })
  return results.map(({ memory, prompt, step }, i) => [memory, short(starts[i].load), short(prompt), (1000 / step).toFixed(1)])
}

/** A process that loads what generates, and generates behind its prompt for each line of its input. */
async function generations(folder, options) {
  setNumThreads(Number(values.threads))
  let start = performance.now()
  const model = values.ahead === undefined ? await generatorOf(folder, options) : await loadModule(values.ahead)
  const load = since(start)
  const prompt = promptOf(folder, jsonOf(folder, 'tokens.json')[0])
  start = performance.now()
  for await (const _ of generate(model, prompt, { maxTokens: 8 }));
  console.log(JSON.stringify({ load, first: since(start) }))
  for await (const _ of createInterface({ input: process.stdin })) {
    start = performance.now()
    const arrivals = []
    for await (const _ of generate(model, prompt, { maxTokens: 33 })) arrivals.push(since(start))
    const step = median(arrivals.slice(1).map((time, i) => time - arrivals[i]))
    console.log(JSON.stringify({ prompt: arrivals[0], step, memory: peak() }))
  }
}

const size = (...paths) => (paths.reduce((sum, path) => sum + statSync(path).size, 0) / 1e6).toFixed(1)

async function programTable(folder, program, out) {
  const pathOf = join(folder, '1', `${program}.pt2`)
  const row = (name, file, options = []) => ({
    name,
    file,
    command: [process.execPath, [SELF, '--program', program, '--file', file, ...options, folder]],
  })
  const rows = [undefined, 'int8', 'int4'].map((weights) =>
    row(weights ?? 'as exported', pathOf, weights === undefined ? [] : ['--weights', weights]),
  )
  for (const weights of ['int8', 'int4']) {
    const file = join(out, `${program}-${weights}.ptlc`)
    compileAhead(folder, program, 0, file, ['--weights', weights])
    rows.push(row(`${weights}, \`.ptlc\``, file))
  }
  if (values.python !== undefined) rows.push({ name: 'PyTorch', file: pathOf, command: [values.python, [PYTORCH, folder, program]] })
  for (const [i, result] of (await measured(rows)).entries())
    console.log('|', [program, rows[i].name, size(rows[i].file), ...result].join(' | '), '|')
}

async function table(folder) {
  const isGenerator = existsSync(join(folder, 'tokens.json'))
  console.log(isGenerator ? '| weights | file MB | peak MB | load ms | prompt ms | tokens/s |' : '| program | weights | file MB | peak MB | load ms | first call ms | 1 thread ms | 2 threads ms |') // prettier-ignore
  console.log(isGenerator ? '|---|---:|---:|---:|---:|---:|' : '|---|---|---:|---:|---:|---:|---:|---:|')
  const programs = programsOf(folder)
  if (isGenerator) {
    await inFolder((out) => generatorTable(folder, programs, out))
    return
  }
  await inFolder(async (out) => {
    for (const program of programs) await programTable(folder, program, out)
  })
}

async function generatorTable(folder, programs, out) {
  const files = programs.map((program) => join(folder, '1', `${program}.pt2`))
  const row = (name, files, options) => ({
    name,
    files,
    command: [process.execPath, [SELF, '--threads', values.threads, ...options, folder]],
  })
  const rows = [undefined, 'int8', 'int4'].map((weights) =>
    row(weights ?? 'as exported', files, weights === undefined ? [] : ['--weights', weights]),
  )
  for (const weights of ['int8', 'int4']) {
    const file = compileTokens(folder, join(out, `${weights}.ptlc`), ['--weights', weights])
    if (file !== null) rows.push(row(`${weights}, \`.ptlc\``, [file], ['--ahead', file]))
  }
  if (values.python !== undefined) rows.push({ name: 'PyTorch', files, command: [values.python, [PYTORCH, folder]] })
  for (const [i, result] of (await measuredTokens(rows)).entries())
    console.log('|', [rows[i].name, size(...rows[i].files), ...result].join(' | '), '|')
}

async function inFolder(work) {
  const out = mkdtempSync(join(tmpdir(), 'models-'))
  try {
    await work(out)
  } finally {
    rmSync(out, { recursive: true })
  }
}

const [folder] = positionals
const options = values.weights === undefined ? {} : { weights: values.weights }
if (values.file !== undefined) await calls(folder, options)
else if (process.env.PTLITE_MEASURE_ROW) await generations(folder, options)
else for (const each of positionals) await table(each)

#!/usr/bin/env node
// Loads every network that the exporters beside this file wrote to a folder, calls it interpreted and compiled, and compares with PyTorch.
//
//   run.mjs [--lib DIST/index.js] [--filter REGEX] [--form ff] [--eager] [--missing FILE] [--json FILE] DIR ...
//
// --form KIND     reads NAME.KIND where there is one, in place of NAME.ptl
// --eager         compiles at the first call, too
// --missing FILE  writes the operators that are missing, with the number of networks that lack them
//
// Networks run in a child process, which is started again where one takes it along.
import { fork } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { compare, elements } from './outputs.mjs'

const NOISE = 8 // times what half a unit in the last place of weights and inputs does to PyTorch's own result
const SECONDS = 300

async function judge(lib, path, modes) {
  const stem = path.replace(/\.(mobile\.ptl|core\.pt2|ptl|ff|pt2?)$/, '')
  const { calls, tolerance = 1e-5 } = JSON.parse(readFileSync(`${stem}.json`, 'utf8'))
  const data = readFileSync(`${stem}.bin`)
  const result = { status: 'pass', error: 0, plans: [] }
  for (const mode of modes) {
    let stage = `${mode}: loading`
    let module
    try {
      module = await lib.loadModule(path, { compile: mode })
      const others = calls.flatMap((_, index) => (index < 2 ? [] : [index, index, 0]))
      for (const [turn, index] of [0, 1, 0, ...others].entries()) {
        const { inputs, outputs, noise } = calls[index]
        const args = inputs.map((value) => lib.tensor(elements(data, value), value.shape, value.dtype))
        stage = `${mode}: call ${turn + 1}`
        const output = module.forward(...args)
        const found = Array.isArray(output) ? output : [output]
        if (found.length !== outputs.length) throw new Error(`expected ${outputs.length} outputs, found ${found.length}`)
        for (const [i, wanted] of outputs.entries()) {
          const { wrong, error } = compare(found[i], wanted, data, Math.max(tolerance, NOISE * noise))
          result.error = Math.max(result.error, error ?? 0)
          if (wrong !== undefined) return { ...result, status: 'wrong', detail: `${stage}, output ${i}: ${wrong}` }
        }
        for (const value of [...found, ...args]) value.dispose?.()
      }
      if (mode !== 'off')
        result.plans = module.plans().map(({ state, reason, frames, operators }) => ({ state, reason, frames, operators }))
    } catch (error) {
      const missing =
        error.code === 'MISSING_OPERATOR' ? [...error.message.matchAll(/^\s*[-*]?\s*([a-z_]+::[\w.]+)/gm)].map((m) => m[1]) : undefined
      return { ...result, status: missing ? 'missing' : 'error', missing, detail: `${stage}: ${error.message}` }
    } finally {
      module?.dispose()
    }
  }
  return result
}

if (process.send) {
  const [lib, ...modes] = process.argv.slice(2)
  const library = await import(pathToFileURL(lib).href)
  process.on('message', async (path) => process.send(await judge(library, path, modes)))
} else {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      lib: { type: 'string', default: fileURLToPath(new URL('../dist/index.js', import.meta.url)) },
      filter: { type: 'string', default: '' },
      form: { type: 'string', default: 'ptl' },
      eager: { type: 'boolean', default: false },
      missing: { type: 'string' },
      json: { type: 'string' },
    },
  })
  const wanted = new RegExp(values.filter)
  const paths = positionals.flatMap((folder) =>
    readdirSync(folder)
      .filter((file) => file.endsWith('.json') && wanted.test(file))
      .map((file) => join(folder, file.replace(/\.json$/, `.${values.form}`)))
      .filter(existsSync),
  )
  const modes = values.eager ? ['off', 'auto', 'eager'] : ['off', 'auto']
  const results = new Map()
  let child
  for (const path of paths) {
    child ??= fork(fileURLToPath(import.meta.url), [values.lib, ...modes], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    const current = child
    const result = await new Promise((done) => {
      const timer = setTimeout(() => current.kill('SIGKILL'), SECONDS * 1000)
      const end = (value) => {
        clearTimeout(timer)
        current.removeAllListeners()
        done(value)
      }
      current.once('message', end)
      current.once('exit', (code, signal) => {
        child = undefined
        end({ status: 'crash', detail: `the process ended with ${signal ?? code}`, error: 0, plans: [] })
      })
      current.send(path)
    })
    results.set(path, result)
    if (result.status !== 'pass')
      console.log(
        result.status.padEnd(8),
        basename(path, `.${values.form}`),
        '-',
        result.missing ? result.missing.join(' ') : result.detail.slice(0, 600),
      )
  }
  child?.kill()

  const counts = {}
  const missing = new Map()
  const reasons = new Map()
  for (const [path, { status, missing: names = [], plans = [] }] of results) {
    counts[status] = (counts[status] ?? 0) + 1
    for (const name of names) missing.set(name, [...(missing.get(name) ?? []), basename(path, `.${values.form}`)])
    for (const { state, reason } of plans) {
      const key = state === 'plan' ? 'plan' : `${state}: ${reason}`.replaceAll(/\d+/g, 'N').slice(0, 140)
      reasons.set(key, (reasons.get(key) ?? 0) + 1)
    }
  }
  const table = [...missing]
    .sort((a, b) => b[1].length - a[1].length)
    .map(([name, networks]) => `${String(networks.length).padStart(5)}  ${name}  (${networks.slice(0, 4).join(', ')})`)
  if (table.length > 0) console.log(`\nmissing operators\n${table.join('\n')}`)
  console.log('\nplans')
  for (const [reason, count] of [...reasons].sort((a, b) => b[1] - a[1])) console.log(String(count).padStart(5), reason)
  console.log(
    `\n${paths.length} networks: ${Object.entries(counts)
      .map(([status, count]) => `${count} ${status}`)
      .join(', ')}`,
  )
  if (values.missing) writeFileSync(values.missing, `${table.join('\n')}\n`)
  if (values.json) writeFileSync(values.json, JSON.stringify(Object.fromEntries(results), null, 1))
  process.exitCode = counts.pass === paths.length ? 0 : 1
}

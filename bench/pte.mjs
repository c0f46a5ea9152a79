// One network in several files (.pt2, .ptl, .pte portable and XNNPACK): what it takes to load each and to replay its plan, in turns within one run,
// with the ratio to the first file of the group. Groups are separated by `--`.
//
//   node pte.mjs [--runs 41] [--threads 1] NET.pt2 NET.portable.pte NET.xnnpack.pte [-- OTHER.pt2 ...]
import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { loadModule, setNumThreads, tensor } from '../dist/index.js'
import { median, relativeError } from './lib/compare.mjs'

const options = { runs: 41, threads: 1 }
const groups = [[]]
const args = process.argv.slice(2)
for (let i = 0; i < args.length; i++) {
  const option = /^--(runs|threads)$/.exec(args[i])?.[1]
  if (option !== undefined) options[option] = Number(args[++i])
  else if (args[i] === '--') groups.push([])
  else groups.at(-1).push(args[i])
}
setNumThreads(options.threads)

/** Inputs of the shapes that the file says: of floats any numbers, of integers ones; and what has to be what it was when the file was written. */
function inputsOf(module) {
  return module.inputs.map(({ dtype, shape: sizes, constant }) => {
    if (sizes === undefined) return constant ?? null
    const shape = sizes.map(({ min }) => min)
    const count = shape.reduce((product, size) => product * size, 1)
    if (dtype === 'int64') return tensor(new BigInt64Array(count).fill(1n), shape)
    return tensor(
      Float32Array.from({ length: count }, (_, i) => Math.sin(i * 12.9898)),
      shape,
    )
  })
}

console.log(`medians of ${options.runs} turns, ${options.threads} thread${options.threads === 1 ? '' : 's'}\n`)
console.log('| file | MB | load, ms | ms per MB | of the first | plan, ms | of the first | largest difference |')
console.log('|---|---:|---:|---:|---:|---:|---:|---:|')
for (const files of groups) {
  const rows = files.map((path) => ({ path, loads: [], plans: [] }))
  for (let turn = -1; turn < 9; turn++) {
    for (const { path, loads } of rows) {
      const start = performance.now()
      const module = await loadModule(path)
      if (turn >= 0) loads.push(performance.now() - start)
      module.dispose()
    }
  }
  let [inputs, expected] = [null, null]
  for (const row of rows) {
    row.module = await loadModule(row.path)
    inputs ??= inputsOf(row.module)
    const call = () => [row.module.forward(...inputs)].flat(Infinity)[0]
    for (let i = 0; i < 4; i++) row.result = [...call().data()]
    row.kinds = row.module.plans().map(({ state }) => state)
    row.call = call
    expected ??= row.result
  }
  for (let turn = 0; turn < options.runs; turn++)
    for (const row of rows) {
      const start = performance.now()
      const y = row.call()
      row.plans.push(performance.now() - start)
      y.dispose()
    }
  const [first] = rows
  for (const { path, loads, plans, result, kinds } of rows) {
    const megabytes = statSync(path).size / 1e6
    const ratio = (own, peer) => median(own.map((ms, i) => ms / peer[i])).toFixed(3)
    const name = `${basename(path)}${kinds.join() === 'plan' ? '' : ` (${kinds.join(', ')})`}`
    const load = [median(loads).toFixed(2), (median(loads) / megabytes).toFixed(2), ratio(loads, first.loads)]
    console.log(
      `| ${[name, megabytes.toFixed(1), ...load, median(plans).toFixed(3), ratio(plans, first.plans), relativeError(result, expected).toExponential(1)].join(' | ')} |`,
    )
  }
  for (const { module } of rows) module.dispose()
}

// One network in several files (.pt2, .ptl, .pte portable and XNNPACK): what it takes to load each and to replay its plan, in turns within one run,
// with the ratio to the first file of the group. Groups are separated by `--`.
//
//   node pte.mjs [--runs 41] [--threads 1] [--executorch RUNNER] NET.pt2 NET.portable.pte NET.xnnpack.pte [-- OTHER.pt2 ...]
//
// RUNNER is ExecuTorch's executor_runner, built with XNNPACK and the optimized kernels (CMake's EXECUTORCH_BUILD_XNNPACK, EXECUTORCH_BUILD_KERNELS_OPTIMIZED and
// EXECUTORCH_BUILD_KERNELS_QUANTIZED): it runs each .pte file in turns with ptlite, on the same inputs, and what it returns is compared.
import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { loadModule, setNumThreads, tensor } from '../dist/index.js'
import { median, relativeError } from './lib/compare.mjs'
import { ExecutorRunner } from './lib/executorch.mjs'

const options = { runs: 41, threads: 1, executorch: null }
const groups = [[]]
const args = process.argv.slice(2)
for (let i = 0; i < args.length; i++) {
  const option = /^--(runs|threads)$/.exec(args[i])?.[1]
  if (option !== undefined) options[option] = Number(args[++i])
  else if (args[i] === '--executorch') options.executorch = args[++i]
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

/** Turns with a peer: how many, milliseconds of each and between them, and calls that are not counted. */
const [TURNS, TURN, REST, WARM] = [9, 250, 30, 20]
const beside = []

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
  if (options.executorch !== null) for (const row of rows) if (row.path.endsWith('.pte')) beside.push(await besideExecuTorch(row, inputs))
  for (const { module } of rows) module.dispose()
}
if (beside.length > 0) {
  console.log('\n| file | ptlite, ms | ExecuTorch, ms | ptlite / ExecuTorch | largest difference |\n|---|---:|---:|---:|---:|')
  for (const line of beside) console.log(line)
}

/** ptlite and ExecuTorch in turns: medians of what one call takes in each. */
async function besideExecuTorch({ path, call, result, plans }, inputs) {
  const runner = new ExecutorRunner(options.executorch, path, inputs, options.threads)
  try {
    // portable kernels of ExecuTorch take hundreds of times as long
    const [first] = runner.time(1)
    const runs = Math.max(1, Math.min(200, Math.round(TURN / Math.max(median(plans), first))))
    const warm = first > TURN ? 0 : WARM
    const times = { own: [], peer: [] }
    for (let turn = 0; turn < (first > 10 * TURN ? 1 : TURNS); turn++) {
      await pause(REST)
      for (let i = -warm; i < runs; i++) {
        const start = performance.now()
        const y = call()
        if (i >= 0) times.own.push(performance.now() - start)
        y.dispose()
      }
      await pause(REST)
      times.peer.push(...runner.time(runs + warm).slice(warm))
    }
    const [own, peer] = [median(times.own), median(times.peer)]
    return `| ${[basename(path), own.toFixed(3), peer.toFixed(3), (own / peer).toFixed(2), relativeError(result, runner.result()).toExponential(1)].join(' | ')} |`
  } catch (error) {
    return `| ${basename(path)} | | | ${error.message} | |`
  } finally {
    runner.close()
  }
}

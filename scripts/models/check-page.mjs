#!/usr/bin/env node
// Compares exported models with PyTorch in a page of Chromium, and measures them there: check-page.mjs [--threads 2] [--seconds 3] [--weights int8] FOLDER ...
//
// Prints a row for each program: the largest difference of its calls (as check.mjs has it) at the first, third and last, the memory of the kernels, and the times of loading, of the first
// call, and of the quickest. Exits with 1 where a difference is larger than --tolerance, with the weights as they are.
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { readNpy } from '../../bench/lib/npy.mjs'
import { openPage } from './chromium.mjs'
import { callFilesOf, programsOf } from './folder.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    threads: { type: 'string', default: '2' },
    seconds: { type: 'string', default: '3' },
    weights: { type: 'string' },
    tolerance: { type: 'string', default: '1e-4' },
  },
})

const program = (calls, options) => `
  import { getNumThreads, loadModule, ready, setNumThreads, tensor } from 'ptlite/web'
  import { difference, tensorsOf } from '/scripts/difference.mjs'
  const ARRAYS = { float32: Float32Array, float64: Float64Array, int64: BigInt64Array, int32: Int32Array, int8: Int8Array, uint8: Uint8Array, bool: Uint8Array }
  const tensorAt = async ({ address, dtype, shape }) => tensor(new ARRAYS[dtype](await (await fetch(address)).arrayBuffer()), shape, dtype)
  async function run() {
    setNumThreads(${Number(values.threads)})
    await ready()
    const calls = []
    for (const { inputs, outputs } of ${JSON.stringify(calls)}) calls.push({ inputs: await Promise.all(inputs.map(tensorAt)), outputs: await Promise.all(outputs.map(tensorAt)) })
    let start = performance.now()
    const model = await loadModule('/model.pt2', ${JSON.stringify(options)})
    const load = performance.now() - start
    const found = []
    let [first, least] = [0, Infinity]
    for (const { inputs, outputs } of calls) {
      const differences = []
      for (let k = 0; k < 6; k++) {
        start = performance.now()
        const results = tensorsOf(model.forward(...inputs))
        const took = performance.now() - start
        if (first === 0) first = took
        else if (inputs === calls[0].inputs) least = Math.min(least, took)
        differences.push(results.length === outputs.length ? Math.max(...outputs.map((output, j) => difference(results[j], output))) : Infinity)
        for (const result of results) result.dispose()
        // plans are made between calls
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      found.push([differences[0], differences[2], differences.at(-1)])
    }
    const begin = performance.now()
    while (performance.now() - begin < ${1000 * Number(values.seconds)}) {
      start = performance.now()
      for (const result of tensorsOf(model.forward(...calls[0].inputs))) result.dispose()
      least = Math.min(least, performance.now() - start)
    }
    return { found, load, first, least, memory: megabytes(), threads: getNumThreads() }
  }
  globalThis.ended = run().catch((error) => ({ error: String(error.stack) }))`

for (const folder of positionals)
  for (const name of programsOf(folder)) {
    const data = {}
    const calls = callFilesOf(folder, name).map((call, i) =>
      Object.fromEntries(
        Object.entries(call).map(([kind, paths]) => [
          kind,
          paths.map((path, k) => {
            const address = `/calls/${i}/${kind}/${k}`
            const { data: values, dtype, shape } = readNpy(path)
            data[address] = Buffer.from(values.buffer, values.byteOffset, values.byteLength)
            return { address, dtype, shape }
          }),
        ]),
      ),
    )
    const options = { compile: 'eager', ...(values.weights === undefined ? {} : { weights: values.weights }) }
    const page = await openPage(program(calls, options), { '/model.pt2': resolve(folder, '1', `${name}.pt2`) }, data)
    try {
      await page.open()
      const { error, found, load, first, least, memory, threads } = await page.tab.evaluate('globalThis.ended')
      if (error !== undefined) throw new Error(error)
      if (values.weights === undefined && !found.flat().every((value) => value <= Number(values.tolerance))) process.exitCode = 1
      const differences = found.map((each) => each.map((value) => value.toExponential(1)).join(' ')).join(', ')
      const times = [load, first, least].map((time) => (time < 100 ? time.toFixed(1) : time.toFixed(0)))
      console.log('|', [folder, name, values.weights ?? 'as exported', differences, memory, ...times, threads].join(' | '), '|')
    } finally {
      await page.close()
    }
  }

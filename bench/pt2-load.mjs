// What it takes to load programs of torch.export (.pt2), for each megabyte of the file, beside torch.export.load and its module(). Both load in
// turns within one run, in processes that live on; medians, and the ratio of each pair.
//
//   PYTHON=python-with-torch-2 node pt2-load.mjs [--runs 15] FILE.pt2 ...
import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { loadModule } from '../dist/index.js'
import { LineProcess } from './lib/line-process.mjs'

const { values, positionals } = parseArgs({ allowPositionals: true, options: { runs: { type: 'string', default: '15' } } })
const runs = Number(values.runs)
const python = new LineProcess(fileURLToPath(new URL('./lib/torch_export_peer.py', import.meta.url)))
const { version } = await python.answer()

const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)]

async function loaded(path) {
  const start = performance.now()
  const module = await loadModule(path)
  const ms = performance.now() - start
  module.dispose()
  return ms
}

console.log(`medians of ${runs} loads each, in turns; PyTorch ${version}\n`)
console.log('| file | MB | ptlite, ms | ms per MB | torch.export.load, ms | with module(), ms | load / ptlite | with module() / ptlite |')
console.log('|---|---:|---:|---:|---:|---:|---:|---:|')
for (const path of positionals) {
  const [own, load, whole] = [[], [], []]
  // the first of each, which reads code and the file itself, is not counted
  for (let run = -1; run < runs; run++) {
    const ms = await loaded(path)
    const peer = await python.ask({ load: path })
    if (run < 0) continue
    own.push(ms)
    load.push(peer.load)
    whole.push(peer.load + peer.module)
  }
  const megabytes = statSync(path).size / 1e6
  const ratio = (peer) => median(own.map((ms, i) => peer[i] / ms)).toFixed(1)
  const cells = [megabytes, median(own), median(own) / megabytes, median(load), median(whole)].map((x) => x.toFixed(2))
  console.log(`| ${[path.split('/').at(-1), ...cells, ratio(load), ratio(whole)].join(' | ')} |`)
}
python.close()

// Block-sparse linear layers against the dense kernel (float32: with its weight packed), at the shapes of BERT-base, with bias.
// Prints a table of times and speed-ups beside the bound 1 / (1 - zero blocks), and draws docs/sparse-curve.svg with --plot. Runs of
// all variants of a shape alternate; times are the best of them. With a model file and its input, its plan before and after pruning too.
//
//   node sparse.mjs [--plot] [--rounds 40] [--threads 1,2] [--rows 128] [--dtype float32] [MODEL.ptl INPUT.npy]
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { callOperator, float, loadModule, setNumThreads, tensor, Tensor } from '../dist/index.js'
import { linePlot } from './lib/line-plot.mjs'
import { readNpy } from './lib/npy.mjs'
import { best, floats, weightOf } from './lib/sparse.mjs'

const { values, positionals } = parseArgs({
  options: {
    plot: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '40' },
    threads: { type: 'string', default: '1,2' },
    rows: { type: 'string', default: '128' },
    dtype: { type: 'string', default: 'float32' },
  },
  allowPositionals: true,
})
const ROUNDS = Number(values.rounds)
const ROWS = Number(values.rows)
const FORM = ROWS <= 28 ? 'rows' : 'vectors'
const SHAPES = [
  [768, 768],
  [768, 3072],
  [3072, 768],
]
const SHARES = [0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95]
const THREADS = values.threads.split(',').map(Number)

const NO_LIMITS = [float(-Infinity), float(Infinity)]

function measureShape(k, n, threads) {
  setNumThreads(threads)
  const typed = (t) => (values.dtype === 'float32' ? t : callOperator('aten::to.dtype', [t, values.dtype]))
  const x = typed(tensor(floats(ROWS * k), [ROWS, k]))
  const bias = typed(tensor(floats(n), [n]))
  const weights = SHARES.map((share) => typed(weightOf(n, k, share)))
  const dense = () => callOperator('ptlite::linear', [x, weights[0], bias, ...NO_LIMITS])
  const sparse = weights.map((w) => () => callOperator('ptlite::sparse_linear', [x, w, bias, FORM, ...NO_LIMITS]))
  const [denseTime, ...sparseTimes] = best([dense, ...sparse], threads, ROUNDS)
  for (const t of [x, bias, ...weights]) t.dispose()
  return { denseTime, sparseTimes }
}

function curve() {
  console.log(`${cpus()[0]?.model ?? 'unknown CPU'}, ${values.dtype}, ${ROWS} rows, best of ${3 * ROUNDS} runs\n`)
  console.log(`| K x N | threads | dense, ms | ${SHARES.map((s) => `${100 * s} %`).join(' | ')} |`)
  console.log(`|---|---|---|${SHARES.map(() => '---').join('|')}|`)
  const curves = []
  for (const threads of THREADS) {
    SHAPES.forEach(([k, n], i) => {
      const { denseTime, sparseTimes } = measureShape(k, n, threads)
      const cells = sparseTimes.map((t) => `${t.toFixed(2)} (${(denseTime / t).toFixed(2)}x)`)
      console.log(`| ${k} x ${n} | ${threads} | ${denseTime.toFixed(2)} | ${cells.join(' | ')} |`)
      const color = [
        ['#1f5fbf', '#c2571a', '#2a8a4a'],
        ['#7fb0f0', '#f0a878', '#86cf9f'],
      ][threads - 1][i]
      const name = `${k} × ${n}, ${threads} thread${threads === 1 ? '' : 's'}`
      curves.push({ name, color, points: SHARES.map((s, j) => [100 * s, denseTime / sparseTimes[j]]) })
    })
  }
  console.log(`| bound 1 / (1 - s) | | | ${SHARES.map((s) => `${(1 / (1 - s)).toFixed(2)}x`).join(' | ')} |`)
  return curves
}

/** The plan of a model against that of the same model with 90 % of its blocks pruned. */
async function endToEnd(file, inputFile) {
  const folder = mkdtempSync(join(tmpdir(), 'ptlite-sparse-'))
  try {
    const pruned = join(folder, 'pruned.ptl')
    const cli = fileURLToPath(new URL('../dist/cli.js', import.meta.url))
    execFileSync(process.execPath, [cli, 'prune', file, '--sparsity', '0.9', '-o', pruned])
    const { dtype, shape, data } = readNpy(inputFile)
    const input = Tensor.fromStorage(data, { dtype, shape })
    for (const threads of THREADS) {
      setNumThreads(threads)
      const modules = [await loadModule(file), await loadModule(pruned)]
      for (const m of modules) await m.compile('forward', [input])
      const [dense, sparse] = best(
        modules.map((m) => () => m.forward(input)),
        threads,
        ROUNDS,
      )
      console.log(
        `\n${file}, ${threads} thread(s): plan ${dense.toFixed(2)} ms, pruned to 90 % ${sparse.toFixed(2)} ms (${(dense / sparse).toFixed(2)}x)`,
      )
      if (threads === 1) for (const line of modules[1].plans().flatMap((p) => p.choices)) console.log(`  ${line}`)
      for (const m of modules) m.dispose()
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const curves = curve()
if (values.plot) {
  const bound = Array.from({ length: 96 }, (_, s) => [s, 1 / (1 - s / 100)])
  const svg = linePlot({
    title: `Block-sparse linear layer against the dense kernel, ${ROWS} rows`,
    xLabel: 'zero blocks of 1 × 16, %',
    yLabel: 'times as fast as dense',
    xTicks: [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100],
    yTicks: [0.5, 1, 2, 5, 10, 20],
    curves: [...curves, { name: 'bound 1 / (1 - s)', color: '#888', dashed: true, points: bound }],
  })
  writeFileSync(new URL('../docs/sparse-curve.svg', import.meta.url), svg)
}
if (positionals.length === 2) await endToEnd(...positionals)

// Compares the outputs of full-size networks with random weights with those of PyTorch's lite interpreter on the same files. Prints the
// largest difference, relative to the largest output, and exits 1 where one exceeds 1e-4.
//
//   node accuracy.mjs [--networks resnet18,vit_b_16] [--files ptl,mobile.ptl,ff]
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Ptlite, TorchLite } from './lib/peers.mjs'

const MAX_ERROR = 1e-4
const script = fileURLToPath(new URL('models/export.py', import.meta.url))
const python = (...args) =>
  execFileSync(process.env.PYTHON ?? 'python3', [script, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })

const { values: options } = parseArgs({
  options: { networks: { type: 'string' }, files: { type: 'string', default: 'ptl,mobile.ptl,ff' } },
})
const networks =
  options.networks?.split(',') ??
  python()
    .trim()
    .split('\n')
    .filter((name) => !name.endsWith('_quantized'))
const kinds = options.files.split(',')

const torch = await TorchLite.start()
const ptlite = new Ptlite()
console.log(`| network | ${kinds.join(' | ')} |\n|---|${kinds.map(() => '---').join('|')}|`)
for (const name of networks) {
  // the largest files are hundreds of megabytes: one network at a time
  const folder = mkdtempSync(join(tmpdir(), 'ptlite-accuracy-'))
  try {
    python(folder, name, '--no-onnx')
    const errors = []
    for (const kind of kinds) {
      const file = join(folder, `${name}.${kind}`)
      const input = join(folder, `${name}.npy`)
      const error = relativeError(await ptlite.load(file, input), await torch.load(file, input))
      if (!(error <= MAX_ERROR)) process.exitCode = 1
      errors.push(error.toExponential(1))
    }
    console.log(`| ${name} | ${errors.join(' | ')} |`)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
await torch.close()

function relativeError(got, want) {
  if (got.length !== want.length) return Infinity
  let scale = 0
  let largest = 0
  for (let i = 0; i < want.length; i++) {
    scale = Math.max(scale, Math.abs(want[i]))
    // a NaN is as wrong as can be
    const difference = Math.abs(got[i] - want[i])
    largest = difference <= largest ? largest : Number.isNaN(difference) ? Infinity : difference
  }
  return largest / scale
}

// Compares torchvision's quantized MobileNetV2 and ResNet18 in full size, with random weights, with PyTorch on QNNPACK: the
// output, and each layer and block by itself on the integers that PyTorch gave it. Prints the largest difference in quanta and how
// many integers differ, and exits 1 where one differs by more than one quantum.
//
//   node quantized.mjs [--networks mobilenet_v2,resnet18]
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { float, int, loadModule, tensor } from '../dist/index.js'

const script = fileURLToPath(new URL('../test/fixtures/make_quantized.py', import.meta.url))
const { values: options } = parseArgs({ options: { networks: { type: 'string', default: 'mobilenet_v2,resnet18' } } })

const bytesOf = (data) => new Uint8Array(Buffer.from(data, 'base64'))
const floatsOf = (data) => new Float32Array(bytesOf(data).buffer)

console.log('| network | file | output: quanta | layers | layers: quanta | integers that differ |\n|---|---|---|---|---|---|')
for (const name of options.networks.split(',')) {
  const folder = mkdtempSync(join(tmpdir(), 'ptlite-quantized-'))
  try {
    execFileSync(process.env.PYTHON ?? 'python3', [script, name, folder], { stdio: ['ignore', 'ignore', 'inherit'] })
    const golden = JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'))
    for (const kind of ['ptl', 'ff']) {
      const module = await loadModule(join(folder, `${name}.${kind}`))
      const output = module.forward(tensor(floatsOf(golden.input.data), golden.input.shape)).data()
      const whole = differences(output, floatsOf(golden.output.data), golden.quantum)
      const layers = { largest: 0, count: 0, of: 0 }
      golden.layers.forEach((layer, i) => {
        const x = tensor(bytesOf(layer.input.data), layer.input.shape, 'uint8')
        const y = module.call(`layer_${i}`, [x, float(layer.input.scale), int(layer.input.zeroPoint)]).data()
        const { largest, count } = differences(y, bytesOf(layer.output.data), 1)
        layers.largest = Math.max(layers.largest, largest)
        layers.count += count
        layers.of += y.length
      })
      if (!(whole.largest < 1.001 && layers.largest <= 1)) process.exitCode = 1
      const cells = [name, kind, whole.largest.toFixed(3), golden.layers.length, layers.largest, `${layers.count} of ${layers.of}`]
      console.log(`| ${cells.join(' | ')} |`)
      module.dispose()
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function differences(got, want, quantum) {
  if (got.length !== want.length) return { largest: Infinity, count: want.length }
  let largest = 0
  let count = 0
  for (let i = 0; i < want.length; i++) {
    const apart = Math.abs(got[i] - want[i]) / quantum
    // a NaN is as wrong as can be
    largest = apart <= largest ? largest : Number.isNaN(apart) ? Infinity : apart
    if (apart > 1e-3) count++
  }
  return { largest, count }
}

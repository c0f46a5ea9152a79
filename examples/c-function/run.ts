// Runs a model that uses the operators of custom_ops.yaml and compares its output with PyTorch's.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { callOperator, loadModule, type Tensor, tensor } from 'ptlite'
import './operators.js'

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

const { input, output } = JSON.parse(readFileSync(here('expected.json'), 'utf8')) as { input: number[][]; output: number[][] }
const module = await loadModule(here('model.ptl'))
const result = module.forward<Tensor>(tensor(input))
const found = [...(result.data() as Float32Array)]
const error = Math.max(...output.flat().map((want, i) => Math.abs(want - found[i]!)))
const peak = callOperator('demo::peak', [result]) as number
console.log(`${found.length} values, at most ${error.toExponential(1)} from PyTorch's; the greatest is ${peak.toFixed(4)}`)
if (!(error < 1e-5)) process.exitCode = 1

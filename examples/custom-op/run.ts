// Runs a model that uses the operators of custom_ops.yaml and compares its output with PyTorch's.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { loadModule, operators, type Tensor, tensor } from 'ptlite'
import { calls } from './natives.js'
import './operators.js'

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

for (const { name, overload, schema } of operators()) if (name.startsWith('demo::')) console.log(`${name}${overload} is ${schema}`)

const { input, output } = JSON.parse(readFileSync(here('expected.json'), 'utf8')) as { input: number[][]; output: number[][] }
const module = await loadModule(here('model.ptl'))
const result = module.forward(tensor(input)) as Tensor
const found = [...(result.data() as Float32Array)]
const error = Math.max(...output.flat().map((want, i) => Math.abs(want - found[i]!)))
console.log(`${found.length} values, at most ${error.toExponential(1)} from PyTorch's; the custom relu ran ${calls.relu} times`)
if (!(error < 1e-5) || calls.relu === 0) process.exitCode = 1

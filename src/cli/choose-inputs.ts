import { loadModelFile } from '../../formats/read.js'
import type { Module } from '../index.js'
import { type InputFiles, readArguments } from './arguments.js'
import { readCompiled } from './compiled-file.js'
import { exampleInputs } from './example-inputs.js'
import { type BenchInputs, bundledInputs, guessInputs, randomTensor } from '../inspect/guess.js'
import { listParameters } from '../inspect/parameters.js'
import { parseCount, UsageError } from './usage.js'

/** Arguments for a method: those of files or of a shape, else the inputs bundled with the model, else those of the form it was
 * compiled for, else a guess from its weights. */
export async function chooseInputs(
  module: Module,
  model: string,
  method: string,
  inputs: InputFiles,
  shape: string | undefined,
): Promise<BenchInputs> {
  if (inputs.files.length > 0) return { args: await readArguments(inputs), source: inputs.files.join(', ') }
  if (shape !== undefined) {
    const sizes = shape.split(',').map((size) => parseCount(size, '--shape', 0))
    return { args: [randomTensor(sizes)], source: `random float32[${sizes.join(', ')}]` }
  }
  const bundled = method === 'forward' ? bundledInputs(module) : null
  if (bundled !== null) return bundled
  const example = exampleInputs(model, method)
  if (example !== null) return example
  if (readCompiled(model) !== null) throw new UsageError(`${model} was not compiled for ${method}; give --input or --shape`)
  const file = loadModelFile(model, {})
  const weights = listParameters(file).map((p) => p.tensor)
  const schema = file.functions.find((fn) => fn.className === file.root.typeName && fn.method === method)?.schema
  const guess = schema?.args.length === 1 ? { args: [], source: 'no arguments' } : guessInputs(module, method, weights)
  file.close()
  if (guess === null) throw new UsageError(`cannot tell what ${method} takes; give --input or --shape`)
  return guess
}

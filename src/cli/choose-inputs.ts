import { loadModelFile } from '../../formats/read.js'
import type { Module } from '../index.js'
import { type InputFiles, readArguments } from './arguments.js'
import { readCompiled } from './compiled-file.js'
import { exampleInputs } from './example-inputs.js'
import { type BenchInputs, bundledInputs, guessInputs } from '../inspect/guess.js'
import { declaredInputs } from '../inspect/suggest-inputs.js'
import { listParameters } from '../inspect/parameters.js'
import { tensorsOfShapes } from './shapes.js'
import { UsageError } from './usage.js'

/** Arguments for a method without files: those of shapes, else the inputs bundled with the model, else those of the form it was compiled for, else of the sizes that its file declares. */
export function knownInputs(module: Module, model: string, method: string, shapes: readonly string[] = []): BenchInputs | null {
  if (shapes.length > 0) return tensorsOfShapes(module, method, shapes)
  const isForward = method === 'forward'
  return (isForward ? bundledInputs(module) : null) ?? exampleInputs(model, method) ?? (isForward ? declaredInputs(module) : null)
}

/** Arguments for a method: those of files, else those that are known, else a guess from its weights. */
export async function chooseInputs(
  module: Module,
  model: string,
  method: string,
  inputs: InputFiles,
  shapes: readonly string[] = [],
): Promise<BenchInputs> {
  if (inputs.files.length > 0) return { args: await readArguments(inputs), source: inputs.files.join(', ') }
  const known = knownInputs(module, model, method, shapes)
  if (known !== null) return known
  if (readCompiled(model) !== null) throw new UsageError(`${model} was not compiled for ${method}; give --input or --shape`)
  const file = loadModelFile(model, {})
  const weights = listParameters(file).map((p) => p.tensor)
  const schema = file.functions.find((fn) => fn.className === file.root.typeName && fn.method === method)?.schema
  const guess = schema?.args.length === 1 ? { args: [], source: 'no arguments' } : guessInputs(module, method, weights)
  file.close()
  if (guess === null) throw new UsageError(`cannot tell what ${method} takes; give --input or --shape`)
  return guess
}

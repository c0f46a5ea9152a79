import type { ReaderPart } from '../../../program/reader-parts.js'
import { absent } from '../../../runtime/error.js'
import * as features from '../../../runtime/features.js'
import type { Kernel } from '../kernel.js'
import { atenKernel, inPlaceKernel } from './aten.js'
import { copyInPlace } from './copy.js'
import { dimOrderKernel } from './dim-order.js'
import { llamaKernel } from './llama.js'
import { partOf } from './parts.js'
import { primKernel } from './prims.js'
import { quantizedKernel } from './quantized.js'
import { trainingKernel } from './training.js'

/** What serves the calls of an operator; `parts` is told what it takes. Throws UNSUPPORTED_FILE where the build is without that. */
export function kernelOf(name: string, parts: Set<ReaderPart>): Kernel {
  if (name === 'aten::copy_') return copyInPlace
  const part = partOf(name)
  if (part !== undefined) parts.add(part)
  const special = part === 'executorch-numbers' ? numberKernel(name) : part === 'executorch-operators' ? ownKernel(name) : undefined
  return special ?? dimOrderKernel(name) ?? atenKernel(name) ?? inPlaceKernel(name) ?? missingKernel(name)
}

function numberKernel(name: string): Kernel | undefined {
  if (!features.executorchNumbers) throw absent("the reader of ExecuTorch's operators on numbers", 'UNSUPPORTED_FILE')
  return primKernel(name)
}

function ownKernel(name: string): Kernel | undefined {
  if (!features.executorchOperators)
    throw absent("the reader of ExecuTorch's operators for quantized weights, language models and training", 'UNSUPPORTED_FILE')
  return quantizedKernel(name) ?? llamaKernel(name) ?? trainingKernel(name)
}

/** The build lacks the operator: linking says so, with all others that it lacks. Results come last, and are repeated behind the arguments. */
function missingKernel(name: string): Kernel {
  return {
    effects: (args, values) => ({ reads: args.slice(0, -2), writes: args.slice(-1).flatMap((result) => [...values.items(result)]) }),
    emit(args, emitter) {
      const given = args.slice(0, -2)
      for (const arg of given) emitter.push(arg)
      emitter.operator(name, given.length)
      const result = args.at(-1)
      if (result === undefined) return emitter.builder.emit('DROP')
      const value = emitter.value(result)
      if (value.kind === 'tensors') emitter.storeList(value.items)
      else emitter.store(result, value.kind === 'tensor' ? undefined : 'number')
    },
  }
}

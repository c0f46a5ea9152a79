import type { Kernel } from '../kernel.js'
import { atenKernel, inPlaceKernel } from './aten.js'
import { copyInPlace } from './copy.js'
import { dimOrderKernel } from './dim-order.js'
import { llamaKernel } from './llama.js'
import { primKernel } from './prims.js'
import { quantizedKernel } from './quantized.js'
import { trainingKernel } from './training.js'

/** What serves the calls of an operator. */
export function kernelOf(name: string): Kernel {
  if (name === 'aten::copy_') return copyInPlace
  return (
    primKernel(name) ??
    dimOrderKernel(name) ??
    quantizedKernel(name) ??
    llamaKernel(name) ??
    trainingKernel(name) ??
    atenKernel(name) ??
    inPlaceKernel(name) ??
    missingKernel(name)
  )
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

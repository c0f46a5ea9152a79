import { damaged } from '../../../program/file-error.js'
import type { Kernel } from '../kernel.js'
import type { MethodEmitter } from '../method-emitter.js'
import { storeAs } from './views.js'

/* Copies whose result has its dimensions in some order. That says how elements lie in memory, which is this runtime's own affair: it changes no value. */

/** c10::MemoryFormat. */
const CONTIGUOUS = 0

/** A cast, or a copy where the dtype stays. */
function copy(self: number, out: number, emitter: MethodEmitter): void {
  const [from, to] = [emitter.tensor(self), emitter.tensor(out)]
  if (from.scalarType !== to.scalarType) {
    emitter.push(self)
    emitter.constant(to.scalarType)
    emitter.operator('aten::to.dtype', 2)
    return emitter.store(out)
  }
  if (emitter.mayAlias(self, out) && !emitter.isResult(out)) return storeAs(self, out, emitter)
  emitter.push(self)
  emitter.constant(CONTIGUOUS)
  emitter.operator('aten::clone', 2)
  emitter.store(out)
}

/** A copy whose result is the argument number `at`. */
function copyTo(at: number): Kernel {
  return {
    effects: (args) => ({ reads: args.slice(0, 1), writes: args.slice(at, at + 1) }),
    emit(args, emitter) {
      const [self, out] = [args[0], args[at]]
      if (self === undefined || out === undefined) throw damaged(`expected ${at + 1} arguments, found ${args.length}`)
      copy(self, out, emitter)
    },
  }
}

const empty: Kernel = {
  effects: ([size, , out]) => ({ reads: [size!], writes: out === undefined ? [] : [out] }),
  emit([size, , out], emitter) {
    if (size === undefined || out === undefined) throw damaged('expected a size and a tensor')
    // whoever reads it has written all of it, but a model may not
    emitter.pushAs(size, 'int[]')
    emitter.constant(emitter.tensor(out).scalarType)
    emitter.operator('aten::zeros', 2)
    emitter.store(out)
  },
}

const KERNELS: Readonly<Record<string, Kernel>> = {
  'dim_order_ops::_to_dim_order_copy.out': copyTo(3),
  'dim_order_ops::_clone_dim_order.out': copyTo(3),
  'dim_order_ops::_empty_dim_order.out': empty,
  // (self, non_blocking, memory_format, out)
  'aten::_to_copy.out': copyTo(3),
  'et_copy::_h2d_copy.out': copyTo(1),
  'et_copy::_d2h_copy.out': copyTo(1),
}

export function dimOrderKernel(name: string): Kernel | undefined {
  return Object.hasOwn(KERNELS, name) ? KERNELS[name] : undefined
}

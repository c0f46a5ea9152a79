import { damaged } from '../../../program/file-error.js'
import type { Kernel } from '../kernel.js'

/**
 * `aten::copy_`: the new value of a buffer, or the result of a branch. Where it is of the same form as what it is copied to, that has memory of its own and gets the value
 * as any result does.
 */
export const copyInPlace: Kernel = {
  effects(args, values) {
    const [self, source, , result] = args
    if (self === undefined || source === undefined) throw damaged('expected two tensors')
    const results = result === undefined || result === self ? [] : [result]
    const aliases = results.map((to) => [self, to] as const)
    if (values.isAlike(self, source) && values.isPlaced(self)) return { reads: [source], writes: [self, ...results], aliases }
    return { reads: [self, source], writes: results, updates: [self], aliases }
  },
  emit([self, source, nonBlocking, result], emitter) {
    const isWhole = emitter.variables.isAlike(self!, source!) && emitter.variables.isPlaced(self!)
    if (isWhole) {
      emitter.push(source!)
      // a state is copied to, which needs no copy before
      if (!emitter.isState(self!) && !emitter.mayAlias(source!, self!)) emitter.operator('aten::clone', 1)
      emitter.store(self!)
    } else {
      emitter.pushAs(self!, 'Tensor')
      emitter.pushAs(source!, 'Tensor')
      if (nonBlocking !== undefined) emitter.pushAs(nonBlocking, 'bool')
      emitter.operator('aten::copy_', nonBlocking === undefined ? 2 : 3)
      emitter.builder.emit('DROP')
    }
    if (result === undefined || result === self) return
    emitter.push(self!)
    emitter.store(result)
  },
}

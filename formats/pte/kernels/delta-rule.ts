import { damaged } from '../../../program/file-error.js'
import type { Kernel } from '../kernel.js'
import type { MethodEmitter } from '../method-emitter.js'

/**
 * `llama::gated_delta_rule(query, key, value, decay, beta, initial_state; out, final_state)`: linear attention whose state forgets and corrects itself (Yang, Kautz and Hatamizadeh,
 * "Gated Delta Networks", 2024), token after token. Heads are dimension 1 and tokens dimension 2; queries may have more heads than keys. Decays are one for each channel
 * of a key, or one for a head.
 */
export const gatedDeltaRule: Kernel = {
  effects: (args) => ({ reads: args.slice(0, 6), writes: args.slice(6, 8) }),
  emit(args, emitter) {
    if (args.length < 8) throw damaged(`expected 8 arguments, found ${args.length}`)
    const [query, key, value, decay, beta, initial, out, final] = args as [number, number, number, number, number, number, number, number]
    const [, heads = 1, , depth = 1] = emitter.tensor(key).sizes
    const [, queryHeads = 1] = emitter.tensor(query).sizes
    if (heads === 0 || queryHeads % heads !== 0) throw damaged(`${queryHeads} heads of queries for ${heads} of keys`)
    const { builder } = emitter
    const [state, token, change, rows] = [emitter.temporary(), emitter.temporary(), emitter.temporary(), emitter.temporary()]
    const load = (register: number): void => builder.emit('LOAD', register)
    const at = (index: number): void => {
      emitter.pushAs(index, 'Tensor')
      builder.constant(2)
      load(token)
      builder.operator('aten::select.int', 3)
    }
    const unsqueezed = (dim: number): void => {
      builder.constant(dim)
      builder.operator('aten::unsqueeze', 2)
    }
    emitter.pushAs(initial, 'Tensor')
    builder.emit('STORE', state)
    builder.emit('LIST_CONSTRUCT', builder.type('Tensor'), 0)
    builder.emit('STORE', rows)
    builder.constant(0)
    builder.emit('STORE', token)
    const [next, end] = [builder.label(), builder.label()]
    builder.place(next)
    load(token)
    emitter.pushAs(key, 'Tensor')
    builder.constant(2)
    builder.operator('aten::size.int', 2)
    builder.operator('aten::lt.int', 2)
    builder.jump('JF', end)
    // the state forgets
    load(state)
    at(decay)
    unsqueezed(-1)
    if (emitter.tensor(decay).sizes.length === 3) unsqueezed(-1)
    builder.operator('aten::mul.Tensor', 2)
    builder.emit('STORE', state)
    // what it says of the key, and what it should have said
    at(value)
    unsqueezed(-2)
    at(key)
    unsqueezed(-2)
    load(state)
    builder.operator('aten::matmul', 2)
    builder.operator('aten::sub.Tensor', 2)
    at(beta)
    unsqueezed(-1)
    unsqueezed(-1)
    builder.operator('aten::mul.Tensor', 2)
    builder.emit('STORE', change)
    load(state)
    at(key)
    unsqueezed(-1)
    load(change)
    builder.operator('aten::mul.Tensor', 2)
    builder.operator('aten::add.Tensor', 2)
    builder.emit('STORE', state)
    load(rows)
    answer(query, [heads, queryHeads / heads, depth], state, at, emitter)
    builder.operator('aten::append.t', 2)
    builder.emit('DROP')
    load(token)
    builder.constant(1)
    builder.operator('aten::add.int', 2)
    builder.emit('STORE', token)
    builder.jump('JMP', next)
    builder.place(end)
    load(rows)
    builder.constant(2)
    builder.operator('aten::stack', 2)
    emitter.store(out)
    load(state)
    emitter.store(final)
  },
}

/** What the state says of the queries of a token: [batch, heads, numbers]. */
function answer(
  query: number,
  [heads, share, depth]: readonly [number, number, number],
  state: number,
  at: (index: number) => void,
  { builder }: MethodEmitter,
): void {
  at(query)
  builder.constant([-1, heads, share, depth])
  builder.operator('aten::reshape', 2)
  builder.emit('LOAD', state)
  builder.operator('aten::matmul', 2)
  builder.constant(1)
  builder.constant(2)
  builder.operator('aten::flatten.using_ints', 3)
}

import { unsupported } from '../../../program/file-error.js'
import type { AlignedArg, AlignedResult, AlignedValue } from './aligned.js'
import type { Lowering } from './lowering.js'
import type { NodeArguments, Rule } from './node.js'
import { isFixed } from './plan-writer.js'

/* Views, copies and parts of tensors as operators of ExecuTorch, all of which copy. */

/** Whatever only changes sizes. */
const reshaped: Rule = (args, l) => {
  const [x, { result }] = [args.tensor('self'), args]
  const isSame = x.shape.length === result.shape.length && x.shape.every((at, i) => at.join() === result.shape[i]!.join())
  if (isSame) l.alias(result, x)
  else l.view(x, result.shape, result)
}

/** What leaves a tensor as it is. */
const same: Rule = (args, l) => {
  const x = args.tensor(args.node.op === 'aten::dropout' ? 'input' : 'self')
  if (args.flag('train')) throw unsupported('dropout in training mode; use --eval')
  l.alias(args.result, x)
}

const expanded: Rule = (args, l) => {
  const { result } = args
  l.call('aten::expand_copy.out', [args.tensor('self'), result.shape.map((at): AlignedArg => ({ kind: 'int', at })), false], result)
}

/** Parts along a dimension, one after the other. */
const parts: Rule = (args, l) => {
  const x = args.tensor('self')
  const [results] = args.node.results
  const dim = args.dim('dim', x.shape.length)
  if (!Array.isArray(results)) throw unsupported(`${args.node.op} without its results`)
  let start = 0
  for (const result of results as readonly AlignedResult[]) {
    if (result === null || Array.isArray(result)) throw unsupported(`${args.node.op} with a part that nobody needs`)
    const part = result as AlignedValue
    const size = part.shape[dim]!
    if (!isFixed(size)) throw unsupported(`${args.node.op} of parts whose size depends on that of inputs`)
    l.call('aten::slice_copy.Tensor_out', [x, dim, start, start + Number(size[0]), 1], part)
    start += Number(size[0])
  }
}

const narrowed: Rule = (args, l) => {
  const x = args.tensor('self')
  const [start, length] = [args.arg('start'), args.arg('length')]
  if (start.kind !== 'int' || length.kind !== 'int') throw unsupported('narrow at a place that is a tensor')
  const end = { kind: 'int', at: length.at.map((size, i) => Number(size) + Number(start.at[i] ?? start.at[0])) } as const
  l.call('aten::slice_copy.Tensor_out', [x, args.int('dim'), start, end, 1], args.result)
}

/** Tensors of one number, of sizes that may differ. */
function filled(number: 0 | 1): Rule {
  return (args, l) => {
    const { result } = args
    l.call('aten::full.out', [result.shape.map((at): AlignedArg => ({ kind: 'int', at })), number], result)
  }
}

const PADS: Readonly<Record<string, string>> = { reflect: 'reflection', replicate: 'replication' }

const padded: Rule = (args, l) => {
  const mode = args.text('mode') ?? 'constant'
  const x = args.tensor('self')
  const pad = args.arg('pad')
  if (mode === 'constant') return void l.call('aten::constant_pad_nd.out', [x, pad, args.has('value') ? args.arg('value') : 0], args.result)
  const name = PADS[mode]
  if (name === undefined || pad.kind !== 'list') throw unsupported(`padding of mode '${mode}'`)
  l.call(`aten::${name}_pad${pad.items.length / 2}d.out`, [x, pad], args.result)
}

function permuted(order: (args: NodeArguments, rank: number) => number[]): Rule {
  return (args: NodeArguments, l: Lowering) => {
    const x = args.tensor('self')
    const dims = order(args, x.shape.length).map((dim) => (dim < 0 ? dim + x.shape.length : dim))
    l.call('aten::permute_copy.out', [x, dims], args.result)
  }
}

export const SHAPES: Readonly<Record<string, Rule>> = {
  'aten::reshape': reshaped,
  'aten::view': reshaped,
  'aten::_unsafe_view': reshaped,
  'aten::_reshape_alias': reshaped,
  'aten::flatten.using_ints': reshaped,
  'aten::unflatten.int': reshaped,
  'aten::unsqueeze': reshaped,
  'aten::squeeze': reshaped,
  'aten::squeeze.dim': reshaped,
  'aten::squeeze.dims': reshaped,
  'aten::alias': same,
  // rows at positions of one dimension: no indices for those before it
  'aten::index_copy'(args, lowering) {
    const x = args.tensor('self')
    const dim = args.dim('dim', x.shape.length)
    const indices: AlignedArg[] = [...Array<AlignedArg>(dim).fill({ kind: 'plain', value: null }), args.arg('index')]
    lowering.call('aten::index_put.out', [x, { kind: 'list', items: indices }, args.tensor('source'), false], args.result)
  },
  'aten::clone': same,
  'aten::contiguous': same,
  'aten::detach': same,
  'aten::dropout': same,
  'aten::lift_fresh': same,
  'aten::expand': expanded,
  'aten::expand_as': expanded,
  'aten::broadcast_to': expanded,
  'aten::split.Tensor': parts,
  'aten::split_with_sizes': parts,
  'aten::chunk': parts,
  'aten::tensor_split.sections': parts,
  'aten::narrow': narrowed,
  'aten::permute': permuted((args) => args.ints('dims')),
  'aten::numpy_T': permuted((_, rank) => Array.from({ length: rank }, (_, i) => rank - 1 - i)),
  'aten::zeros': filled(0),
  'aten::zeros_like': filled(0),
  'aten::new_zeros': filled(0),
  'aten::ones': filled(1),
  'aten::ones_like': filled(1),
  'aten::new_ones': filled(1),
  'aten::pad': padded,
}

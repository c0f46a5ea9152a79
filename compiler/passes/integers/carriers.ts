import { POINTWISE_OF_ONE } from '../../generated/pointwise.js'
import type { ValueId } from '../../graph/graph.js'
import type { Analysis } from '../analysis.js'

const aten = (names: string): ReadonlySet<string> => new Set(names.split(' ').map((name) => `aten::${name}`))

/** Operators whose results have elements of their first argument alone: they do the same to the integers, with their parameters. */
export const SHOWING = aten(
  'reshape permute slice.Tensor select.int expand squeeze squeeze.dim squeeze.dims unsqueeze contiguous clone split_with_sizes unbind.int ' +
    'relu max_pool1d max_pool2d max_pool3d flip index_select upsample_nearest1d upsample_nearest2d upsample_nearest3d ' +
    'upsample_nearest1d.vec upsample_nearest2d.vec upsample_nearest3d.vec',
)

/** Operators that average, whose results on integers keep the parameters of the argument. */
export const AVERAGING = aten(
  'mean.dim avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d upsample_bilinear2d upsample_bilinear2d.vec',
)

const BINARY = aten('add.Tensor sub.Tensor mul.Tensor div.Tensor maximum minimum')

/** Operators on floats whose operands are elements of the same place. */
export function isElementwise(op: string): boolean {
  return (POINTWISE_OF_ONE.has(op) && op !== 'aten::clone') || BINARY.has(op)
}

/** A constant of one element. */
export function isNumber(id: ValueId, analysis: Analysis): boolean {
  const tensor = analysis.tensor(id)
  return tensor?.numel === 1 && tensor.dim < 2
}

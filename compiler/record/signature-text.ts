import { dtypeName } from '../../runtime/tensor/dtype.js'
import { isContiguous } from '../../runtime/tensor/shape.js'
import { isPerChannel, type Quant } from '../../runtime/tensor/tensor.js'
import type { Shape, TensorShape } from './signature.js'

export function shapeText(shape: Shape): string {
  switch (shape.kind) {
    case 'tensor':
      return `${tensorText(shape.like)}${aliasText(shape)}`
    case 'int':
      return 'int'
    case 'plain':
      return typeof shape.value === 'string' ? JSON.stringify(shape.value) : shape.value === null ? 'None' : String(shape.value)
    case 'float':
      return Number.isInteger(shape.value) ? `${shape.value}.` : String(shape.value)
    case 'device':
      return shape.text
    case 'list':
      return `[${shape.items.map(shapeText).join(', ')}]`
    case 'tuple':
      return `(${shape.items.map(shapeText).join(', ')})`
    case 'dict':
      return `{${shape.items.map((item, i) => `${JSON.stringify(String(shape.keys[i]))}: ${shapeText(item)}`).join(', ')}}`
  }
}

function aliasText({ sameAs, sharesWith }: Shape & { readonly kind: 'tensor' }): string {
  if (sameAs >= 0) return ` (tensor ${sameAs + 1} again)`
  return sharesWith < 0 ? '' : ` (over tensor ${sharesWith + 1})`
}

/** For people: `float32[2, 3] strides [1, 2]`. */
export function tensorText({ type, shape, strides, offset, quant }: TensorShape): string {
  const layout = isContiguous(shape, strides) ? '' : ` strides [${strides.join(', ')}]`
  const start = offset === 0 ? '' : ` from ${offset}`
  return `${dtypeName(type)}[${shape.join(', ')}]${layout}${start}${quantText(quant)}`
}

function quantText(quant: Quant | null): string {
  if (quant === null) return ''
  if (isPerChannel(quant)) return ` quantized along ${quant.axis} by [${quant.scales.join(', ')}], [${quant.zeroPoints.join(', ')}]`
  return ` quantized by ${quant.scale}, ${quant.zeroPoint}`
}

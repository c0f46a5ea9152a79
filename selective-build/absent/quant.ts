import { absent } from '../../runtime/error.js'
import type * as whole from '../../runtime/tensor/quant.js'

/** No tensor has a scale and a zero point. */
export const quantOf: typeof whole.quantOf = () => {
  throw absent('a quantized tensor')
}

export const frozenQuant: typeof whole.frozenQuant = (quant) => quant
export const scaledElement: typeof whole.scaledElement = (value) => value

const nothing = (): void => undefined
const never = (): boolean => false
export { nothing as checkQuant, nothing as checkParameters, never as holdsZeroPoint, never as isPerChannel }

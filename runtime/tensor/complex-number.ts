import { numberOf } from './number.js'
import * as features from '../features.js'
import { absent } from '../error.js'

/** A complex number of a program, in double precision. */
export class Complex {
  constructor(
    /** The real part. */
    readonly re: number,
    /** The imaginary part. */
    readonly im: number,
  ) {}

  /** As Python writes it: `(1+2j)`. */
  toString(): string {
    return `(${this.re}${this.im < 0 || Object.is(this.im, -0) ? '-' : '+'}${Math.abs(this.im)}j)`
  }
}

/** True for complex numbers, where there is code for them. */
export function isComplexNumber(value: unknown): value is Complex {
  return features.complex && value instanceof Complex
}

/** A complex number: the real part, and the imaginary one. Throws INVALID_ARGUMENT for what are no numbers. */
export function complex(re: number, im = 0): Complex {
  if (!features.complex) throw absent('complex numbers')
  return new Complex(numberOf(re), numberOf(im))
}

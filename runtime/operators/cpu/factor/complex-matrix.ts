import { check, PtliteError } from '../../../error.js'
import { viewAsComplex } from '../../../tensor/complex.js'
import { arrayTypeOf, readTensor, writeTensor } from '../../../tensor/data.js'
import { DType, isComplex, realOf } from '../../../tensor/dtype.js'
import { numelOf, shapeText } from '../../../tensor/shape.js'
import { empty, type Tensor } from '../../../tensor/tensor.js'

/** A row-major matrix of complex float64 numbers with its parts apart; the imaginary ones of a real matrix are and stay 0. */
export class ComplexMatrix {
  constructor(
    readonly rows: number,
    readonly cols: number,
    readonly re = new Float64Array(rows * cols),
    readonly im = new Float64Array(rows * cols),
  ) {}

  static identity(rows: number, cols: number): ComplexMatrix {
    const m = new ComplexMatrix(rows, cols)
    for (let i = 0; i < Math.min(rows, cols); i++) m.re[i * cols + i] = 1
    return m
  }

  copy(): ComplexMatrix {
    return new ComplexMatrix(this.rows, this.cols, this.re.slice(), this.im.slice())
  }

  adjoint(): ComplexMatrix {
    const m = new ComplexMatrix(this.cols, this.rows)
    for (let r = 0; r < this.rows; r++) {
      for (let c = 0; c < this.cols; c++) {
        m.re[c * this.rows + r] = this.re[r * this.cols + c]!
        m.im[c * this.rows + r] = -this.im[r * this.cols + c]!
      }
    }
    return m
  }

  swapRows(r: number, s: number): void {
    if (r === s) return
    for (const part of [this.re, this.im]) {
      const row = part.slice(r * this.cols, (r + 1) * this.cols)
      part.copyWithin(r * this.cols, s * this.cols, (s + 1) * this.cols)
      part.set(row, s * this.cols)
    }
  }
}

/** Throws INVALID_DTYPE unless the tensor is of float32, float64, complex64 or complex128. */
export function checkPrecise(operator: string, t: Tensor): void {
  if (t.type !== DType.float32 && t.type !== DType.float64 && !isComplex(t.type)) {
    throw new PtliteError(
      'INVALID_DTYPE',
      `${operator}: expected a floating-point or complex tensor in single or double precision, found ${t.dtype}`,
    )
  }
}

/** checkPrecise, and that the tensor holds matrices. */
export function checkAnyMatrices(operator: string, t: Tensor): void {
  checkPrecise(operator, t)
  check(t.dim >= 2, () => `${operator}: expected matrices, found shape ${shapeText(t.shape)}`)
}

/** The matrices of a batch in float64. */
export function readMatrices(t: Tensor): ComplexMatrix[] {
  const [rows, cols] = t.shape.slice(-2) as [number, number]
  const step = isComplex(t.type) ? 2 : 1
  const data = readTensor(t) as Float32Array | Float64Array
  return Array.from({ length: numelOf(t.shape.slice(0, -2)) }, (_, b) => {
    const m = new ComplexMatrix(rows, cols)
    for (let i = 0, from = b * rows * cols * step; i < rows * cols; i++, from += step) {
      m.re[i] = data[from]!
      if (step === 2) m.im[i] = data[from + 1]!
    }
    return m
  })
}

/** A new tensor of these matrices one after the other, in this shape; imaginary parts go where `type` is complex. */
export function tensorOfMatrices(list: readonly ComplexMatrix[], shape: readonly number[], type: DType): Tensor {
  const pairs = isComplex(type)
  const step = pairs ? 2 : 1
  const out = empty(pairs ? [...shape, 2] : shape, realOf(type))
  const data = new (arrayTypeOf(realOf(type)))(out.numel) as Float32Array | Float64Array
  let to = 0
  for (const { re, im } of list) {
    for (let i = 0; i < re.length; i++, to += step) {
      data[to] = re[i]!
      if (pairs) data[to + 1] = im[i]!
    }
  }
  writeTensor(out, data)
  return pairs ? viewAsComplex(out) : out
}

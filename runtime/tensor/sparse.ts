import { check } from '../error.js'
import { DType } from './dtype.js'
import { readInts, tensorOfInts } from './host-values.js'
import { Layout } from './options.js'
import { hide } from './public-tensor.js'
import { contiguousStrides, refuseSparse } from './shape.js'
import { noteUse } from '../traced-parts.js'
import { Storage } from './storage.js'
import { Tensor, viewOf } from './tensor.js'
import * as features from '../features.js'

/** The matrix dimension that a layout compresses: rows of CSR, columns of CSC. */
const compressedDim = (layout: number): 0 | 1 => (layout === Layout.sparseCsr ? 0 : 1)

/** What a compressed layout has for its indices. */
interface Compressed {
  /** Where each row (or column) starts among the values, and where the last one ends. */
  readonly starts: Tensor
  /** The column (or row) of each value. */
  readonly plain: Tensor
}

/**
 * A sparse tensor: `values[i]` (a number, or a dense block of the trailing dimensions) stands at `indices[:, i]`; of equal coordinates the values
 * add up. Matrices may have a compressed layout, CSR or CSC. It has no storage of its own: operators that expect a dense tensor fail where they
 * ask for its address.
 */
export class SparseTensor extends Tensor {
  #indices: Tensor | null
  #values: Tensor
  #coalesced: boolean
  readonly #compressed: Compressed | null
  /** @internal */
  readonly layout: number

  constructor(
    indices: Tensor | null,
    values: Tensor,
    shape: readonly number[],
    coalesced: boolean,
    layout: number = Layout.sparse,
    compressed: Compressed | null = null,
  ) {
    super(Storage.borrow(0, 0, undefined), 0, shape, contiguousStrides(shape), values.type)
    this.#indices = indices && kept(indices)
    this.#values = kept(values)
    this.#coalesced = coalesced
    this.#compressed = compressed && { starts: kept(compressed.starts), plain: kept(compressed.plain) }
    this.layout = layout
    noteUse('sparse')
    hide(SparseTensor)
  }

  /** A matrix in a compressed layout. Indices are looked at when they are first needed. */
  static compressed(layout: number, starts: Tensor, plain: Tensor, values: Tensor, shape: readonly number[]): SparseTensor {
    const count = shape[compressedDim(layout)]!
    check(shape.length === 2, () => `expected the size of a matrix, found [${shape.join(', ')}]`)
    for (const t of [starts, plain]) {
      check(
        t.dim === 1 && (t.type === DType.int32 || t.type === DType.int64),
        () => `expected indices of one dimension in int32 or int64, found ${t.dtype} of shape [${t.shape.join(', ')}]`,
      )
    }
    check(starts.type === plain.type, () => `expected indices of one dtype, found ${starts.dtype} and ${plain.dtype}`)
    check(
      starts.numel === count + 1 && values.dim === 1 && plain.numel === values.numel,
      () =>
        `expected ${count + 1} starts, and as many indices as values, found ${starts.numel}, ${plain.numel} and [${values.shape.join(', ')}]`,
    )
    return new SparseTensor(null, values, shape, true, layout, { starts, plain })
  }

  override get isSparse(): boolean {
    return true
  }

  /** int64, [sparse dimensions, count]. Throws INVALID_ARGUMENT where those of a compressed layout are out of range. */
  get indices(): Tensor {
    this.#indices ??= kept(this.#expanded())
    return this.#indices
  }

  #expanded(): Tensor {
    const { starts, plain } = this.#compressed!
    const [from, others] = [readInts(starts), readInts(plain)]
    const dim = compressedDim(this.layout)
    check(
      from[0] === 0 && from[from.length - 1] === others.length && from.every((n, i) => i === 0 || n >= from[i - 1]!),
      () => 'a compressed sparse tensor has starts of rows that do not rise from 0 to the number of its values',
    )
    const most = this.shape[1 - dim]!
    check(
      others.every((n) => n >= 0 && n < most),
      () => `a compressed sparse tensor has an index outside of its dimension of ${most}`,
    )
    const rows: number[] = []
    for (let row = 0; row + 1 < from.length; row++) for (let i = from[row]!; i < from[row + 1]!; i++) rows.push(row)
    return tensorOfInts(dim === 0 ? [...rows, ...others] : [...others, ...rows], [2, others.length])
  }

  /** [count, ...dense dimensions] */
  get values(): Tensor {
    return this.#values
  }

  /** Starts and plain indices of a compressed layout. Throws INVALID_ARGUMENT for others than this one. */
  compressedIndices(layout: number): Compressed {
    check(this.#compressed !== null && this.layout === layout, () => 'expected a sparse tensor of another layout')
    return this.#compressed
  }

  /** Coordinates are unique and in row-major order. */
  get coalesced(): boolean {
    return this.#coalesced
  }

  set coalesced(value: boolean) {
    this.#coalesced = value
  }

  get sparseDim(): number {
    return this.#compressed === null ? this.indices.shape[0]! : 2
  }

  /** Number of values. */
  get count(): number {
    return this.values.shape[0]!
  }

  override get address(): number {
    return refuseSparse(this.shape)
  }

  /** The matrix with rows and columns exchanged, and the same values. */
  transposed(): SparseTensor {
    const [rows, cols] = this.shape as [number, number]
    check(this.dim === 2 && this.sparseDim === 2, () => `expected a sparse matrix, found shape [${this.shape.join(', ')}]`)
    if (this.#compressed !== null) {
      const { starts, plain } = this.#compressed
      const layout = this.layout === Layout.sparseCsr ? Layout.sparseCsc : Layout.sparseCsr
      return SparseTensor.compressed(layout, starts, plain, this.values, [cols, rows])
    }
    const coordinates = readInts(this.indices)
    const { count } = this
    const swapped = tensorOfInts([...coordinates.slice(count), ...coordinates.slice(0, count)], [2, count])
    return new SparseTensor(swapped, this.values, [cols, rows], false)
  }

  replace(indices: Tensor, values: Tensor, shape: readonly number[]): void {
    this.#indices?.release()
    this.#values.release()
    this.#indices = kept(indices)
    this.#values = kept(values)
    Tensor.relocate(this, this.storage, 0, shape, contiguousStrides(shape))
  }

  override release(): void {
    super.release()
    this.#indices?.release()
    this.#values.release()
    this.#compressed?.starts.release()
    this.#compressed?.plain.release()
  }
}

/** True for sparse tensors, where there is code for them. */
export function isSparse(t: unknown): t is SparseTensor {
  return features.sparse && t instanceof SparseTensor
}

/** A view that lives as long as the sparse tensor, whatever becomes of the tensor that was given. */
function kept(t: Tensor): Tensor {
  const view = viewOf(t, t.shape, t.strides)
  view.pinned = true
  view.storage.watch()
  return view
}

/**
 * Nested tensors as nn.TransformerEncoder makes and uses them: a batch of sequences of different lengths. They are padded tensors
 * [batch, longest, width] of which the lengths are known; what lies behind the end of a sequence has no meaning.
 */

const lengths = new WeakMap<Tensor, readonly number[]>()

/** How long the sequences of a nested tensor are, null for any other tensor. */
export function sequenceLengths(t: Tensor): readonly number[] | null {
  return lengths.get(t) ?? null
}

/** Makes a padded tensor nested. */
export function asNested(padded: Tensor, of: readonly number[]): Tensor {
  lengths.set(padded, of)
  return padded
}

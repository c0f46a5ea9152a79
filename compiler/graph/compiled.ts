import { PtliteError } from '../../runtime/error.js'
import {
  CLAMP,
  type Field,
  FLAG,
  FLOAT,
  INT,
  INTS,
  LAYER,
  OPTIONAL_LAYER,
  OPTIONAL_VALUE,
  optional,
  POST_OPS,
  VALUE,
  VALUES,
  word,
  FLOATS,
} from './fields.js'
import type { Arg, NodeBase } from './graph.js'

/**
 * What passes make of a model's operators, by the fields of each. `layout` is that of images: `planes` for [n, c, h, w], `blocks` for
 * [n, c / 16, h, w, 16]. Volumes have a depth in front of the height.
 */
const KINDS = {
  /** A convolution, plus a residual, between bounds. */
  convolution: {
    input: VALUE,
    filter: VALUE,
    bias: OPTIONAL_VALUE,
    residual: OPTIONAL_VALUE,
    layout: word('planes', 'blocks'),
    strategy: word('product', 'direct', 'winograd', 'grouped', 'depthwise', 'sparse'),
    /** One per dimension, as are padding and dilation. */
    stride: INTS,
    padding: INTS,
    dilation: INTS,
    groups: optional(INT, 1),
    /** Channels in and out of a group, of strategy `grouped`. */
    perGroup: optional(INTS, [], (list) => list.length === 0),
    clamp: CLAMP,
    post: POST_OPS,
  },
  /** input weight^T + bias, between bounds. */
  linear: {
    input: VALUE,
    weight: VALUE,
    bias: OPTIONAL_VALUE,
    /** The kernel: SparseForm of those that leave blocks of zeros out. */
    form: optional(word('dense', 'rows', 'unrolled', 'vectors'), 'dense'),
    clamp: CLAMP,
    post: POST_OPS,
  },
  /** A product of matrices, or of as many pairs of them. */
  matmul: { left: VALUE, right: VALUE, post: POST_OPS },
  /** A chain of element-wise steps over tensors that are broadcast to `size`; the results are those of steps `kept`, the last one among them. */
  chain: { inputs: VALUES, size: INTS, ops: INTS, values: INTS, numbers: FLOATS, kept: INTS, dtypes: INTS },
  attention: {
    query: VALUE,
    key: VALUE,
    value: VALUE,
    mask: OPTIONAL_VALUE,
    scale: FLOAT,
    causal: FLAG,
    /** A row that sees no key is 0. */
    safe: FLAG,
    /** The result has rows in front of heads in memory. */
    rowsFirst: FLAG,
  },
  /** Rotary position embedding of the first `rotated` elements of rows; the result has these strides. */
  rotary: { input: VALUE, cos: VALUE, sin: VALUE, rotated: INT, interleaved: FLAG, strides: INTS },
  /** Quantizes into channels-last memory. */
  quantize: { input: VALUE, scale: FLOAT, zeroPoint: INT, dtype: INT },
  /** Looks each byte of a quantized tensor up; the result has these strides. */
  lookup: { input: VALUE, table: VALUE, strides: INTS, scale: FLOAT, zeroPoint: INT, dtype: INT },
  /** Brings images into blocks, or `channels` channels out of them: as planes, or as rows [n, h, w, c]. */
  reorder: { input: VALUE, to: word('blocks', 'planes', 'rows'), channels: INT },
  /** Over blocks. */
  pool: {
    input: VALUE,
    mode: word('max', 'average'),
    kernel: INTS,
    stride: INTS,
    padding: INTS,
    /** Of maxima. */
    dilation: optional(INTS, [], (list) => list.length === 0),
    ceil: FLAG,
    /** Of averages. */
    countPadding: FLAG,
  },
  /** Of all pixels in blocks, as [n, c, 1, 1]. */
  mean: { input: VALUE, channels: INT },
  /** Squeeze and excitation: a number for each channel of images in blocks. */
  gates: { input: VALUE, channels: INT, squeeze: LAYER, excite: LAYER },
  /** A pointwise filter in blocks, times a factor per input channel. */
  scaledFilter: { filter: VALUE, factors: VALUE },
  /** A depthwise convolution and the pointwise ones around it, over blocks. */
  bottleneck: {
    input: VALUE,
    expand: OPTIONAL_LAYER,
    depthwise: LAYER,
    project: OPTIONAL_LAYER,
    residual: OPTIONAL_VALUE,
    stride: INT,
    padding: INT,
  },
} as const

export type CompiledKind = keyof typeof KINDS

type FieldsOf<F> = { readonly [Name in keyof F]: F[Name] extends Field<infer T> ? T : never }

/** A node of one kind. */
export type CompiledOf<K extends CompiledKind> = NodeBase & FieldsOf<(typeof KINDS)[K]> & { readonly kind: K; readonly op?: undefined }

/** A node that a pass has made: its kind says what it computes, its fields how. */
export type CompiledNode = { [K in CompiledKind]: CompiledOf<K> }[CompiledKind]

export type ConvolutionNode = CompiledOf<'convolution'>
export type LinearNode = CompiledOf<'linear'>
export type ChainNode = CompiledOf<'chain'>

const fieldsOf = (kind: CompiledKind): readonly (readonly [string, Field<unknown>])[] =>
  Object.entries(KINDS[kind] as unknown as Record<string, Field<unknown>>)

export function isCompiledKind(kind: string): kind is CompiledKind {
  return Object.hasOwn(KINDS, kind)
}

/** The fields as arguments. */
export function argsOf(node: CompiledNode): Arg[] {
  const found = node as unknown as Record<string, unknown>
  return fieldsOf(node.kind).map(([name, field]) => field.toArg(found[name]))
}

/** The node with other fields, as `argsOf` gives them. */
export function withArgs(node: CompiledNode, args: readonly Arg[]): CompiledNode {
  const fields = fieldsOf(node.kind).map(([name, field], i) => [name, field.fromArg(args[i]!)] as const)
  return { ...node, ...Object.fromEntries(fields) } as CompiledNode
}

/** Names and arguments of the fields that say something. */
export function namedArgs(node: CompiledNode): (readonly [string, Arg])[] {
  const found = node as unknown as Record<string, unknown>
  return fieldsOf(node.kind).flatMap(([name, field]) => (field.isNone(found[name]) ? [] : [[name, field.toArg(found[name])] as const]))
}

/** The node of these fields. Throws INVALID_ARGUMENT where one is missing, unknown or no such field. */
export function compiledNode(kind: CompiledKind, args: ReadonlyMap<string, Arg>, base: NodeBase): CompiledNode {
  const known = new Set(fieldsOf(kind).map(([name]) => name))
  for (const name of args.keys()) if (!known.has(name)) throw new PtliteError('INVALID_ARGUMENT', `${kind} has no field ${name}`)
  const fields = fieldsOf(kind).map(([name, field]) => {
    const arg = args.get(name)
    if (arg !== undefined) return [name, field.fromArg(arg)] as const
    if (!('none' in field)) throw new PtliteError('INVALID_ARGUMENT', `${kind} needs field ${name}`)
    return [name, field.none] as const
  })
  return { ...base, kind, ...Object.fromEntries(fields) } as CompiledNode
}

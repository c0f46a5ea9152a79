import { PtliteError } from '../../runtime/error.js'
import type { Field } from './fields.js'
import type { Arg, NodeBase, OperatorNode } from './argument.js'
import { type Call, type FieldsOf, KINDS } from './kinds.js'

export type CompiledKind = keyof typeof KINDS

/** A node of one kind. */
export type CompiledOf<K extends CompiledKind> = NodeBase &
  FieldsOf<(typeof KINDS)[K]['fields']> & { readonly kind: K; readonly op?: undefined }

/** A node that a pass has made: its kind says what it computes, its fields how. */
export type CompiledNode = { [K in CompiledKind]: CompiledOf<K> }[CompiledKind]

export type ConvolutionNode = CompiledOf<'convolution'>
export type LinearNode = CompiledOf<'linear'>
export type ChainNode = CompiledOf<'chain'>

const fieldsOf = (kind: CompiledKind): readonly (readonly [string, Field<unknown>])[] =>
  Object.entries(KINDS[kind].fields as unknown as Record<string, Field<unknown>>)

/** The call that computes a node. */
export function callOf(node: OperatorNode | CompiledNode): Call {
  return node.kind === 'operator' ? node : (KINDS[node.kind].call as (node: CompiledNode) => Call)(node)
}

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

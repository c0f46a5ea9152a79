import { PtliteError } from '../../../runtime/error.js'
import { mem_fill } from '../../../runtime/native/generated/kernels.js'
import { findOperator } from '../../../runtime/operators/table/registry.js'
import { itemSize } from '../../../runtime/tensor/dtype.js'
import { Storage } from '../../../runtime/tensor/storage.js'
import { Tensor } from '../../../runtime/tensor/tensor.js'
import type { CustomObject, Value } from '../../../runtime/tensor/value.js'
import { callApart } from '../../graph/evaluate.js'
import { valueOf } from '../../graph/execute.js'
import { type Arg, type OperatorNode, type Origin, type TensorType, type ValueId, visitArg } from '../../graph/graph.js'
import { typeOf } from '../../record/recorder.js'
import type { Analysis } from '../analysis.js'
import type { Editor } from '../editor.js'

/**
 * Makes nodes whose results have the types that the operators themselves give them: each is called once, on zeros of the shapes and
 * strides of its arguments.
 */
export class Builder {
  private nodes: OperatorNode[] = []
  private origin: Origin | null = null
  /** Results in the memory of an argument. */
  private readonly views = new Set<ValueId>()

  constructor(
    readonly analysis: Analysis,
    readonly editor: Editor,
  ) {}

  /** Nodes from here on stand in front of `node`. */
  begin({ origin }: OperatorNode): void {
    this.nodes = []
    this.origin = origin
  }

  /** The nodes that were made since. */
  take(): OperatorNode[] {
    return this.nodes
  }

  /** An argument for an object that the compiler made. */
  object(object: CustomObject): Arg {
    return { kind: 'object', index: this.editor.addObject(object) }
  }

  /** The result of a call; null where this build lacks the operator, or it refuses such arguments. */
  add(op: string, args: readonly Arg[]): ValueId | null {
    return this.list(op, args, false)?.[0] ?? null
  }

  /** The same for a list of results. */
  addList(op: string, args: readonly Arg[]): ValueId[] | null {
    return this.list(op, args, true)
  }

  /** Has the call that made `from` make a value of the graph in its place, where it is the last one. False where it cannot. */
  rename(from: ValueId, id: ValueId): boolean {
    const last = this.nodes.at(-1)
    const [made] = last?.results ?? []
    if (last === undefined || made?.kind !== 'value' || made.id !== from || this.views.has(from)) return false
    this.nodes[this.nodes.length - 1] = { ...last, results: [{ kind: 'value', id }] }
    return true
  }

  /** A call that makes a value of the graph. */
  define(id: ValueId, op: string, args: readonly Arg[]): void {
    this.nodes.push({ kind: 'operator', op, args, results: [{ kind: 'value', id }], writes: [], origin: this.origin })
  }

  private list(op: string, args: readonly Arg[], isList: boolean): ValueId[] | null {
    if (findOperator(op) === undefined) return null
    const types = this.typesOf(op, args, isList)
    if (types === null) return null
    const ids = types.map(({ type, storage }) => {
      const id = this.editor.newValue(type, storage)
      if (storage !== undefined) this.views.add(id)
      return id
    })
    const results = ids.map((id) => ({ kind: 'value', id }) as const)
    this.nodes.push({
      kind: 'operator',
      op,
      args,
      results: isList ? [{ kind: 'list', items: results }] : results,
      writes: [],
      origin: this.origin,
    })
    return ids
  }

  private typesOf(op: string, args: readonly Arg[], isList: boolean): { type: TensorType; storage: number | undefined }[] | null {
    const { editor, analysis } = this
    const env = new Map<ValueId, Tensor>()
    const storages = new Map<Storage, number>()
    for (const arg of args) {
      visitArg(arg, (id) => {
        const tensor = analysis.tensor(id) ?? standIn(editor.typeOf(id))
        env.set(id, tensor)
        storages.set(tensor.storage, editor.storageOf(id))
      })
    }
    const owned = [...env].flatMap(([id, tensor]) => (analysis.tensor(id) === undefined ? [tensor] : []))
    try {
      const results = callApart(
        op,
        args.map((arg) => valueOf(arg, editor, env)),
      )
      const found = (isList ? results[0] : results) as Value[]
      if (!found.every((result) => result instanceof Tensor)) return null
      const types = found.map((result) => ({ type: typeOf(result), storage: storages.get(result.storage) }))
      for (const result of found) if (!storages.has(result.storage)) result.release()
      return types
    } catch (error) {
      if (error instanceof PtliteError) return null
      throw error
    } finally {
      for (const tensor of owned) tensor.release()
    }
  }
}

/** A tensor of this type with memory for all that its strides reach, of zeros: operators refuse indices that are too large, and ranges of NaN. */
function standIn({ dtype, shape, strides, offset, quant }: TensorType): Tensor {
  const last = shape.reduce((at, size, d) => at + Math.max(size - 1, 0) * strides[d]!, offset)
  const bytes = (last + 1) * itemSize(dtype)
  const storage = Storage.allocate(bytes)
  mem_fill({ address: storage.address, bytes, value: 0 })
  return new Tensor(storage, offset, shape, strides, dtype, quant)
}
